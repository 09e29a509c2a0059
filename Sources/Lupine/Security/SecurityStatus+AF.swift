// SPDX-License-Identifier: MIT

public import LupineLoading

extension OSStatus: AlamofireExtended {}
extension SecTrustResultType: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == OSStatus {
    /// Whether the status is `errSecSuccess`.
    public var isSuccess: Bool { type == errSecSuccess }
}

extension AlamofireExtension where ExtendedType == SecTrustResultType {
    /// Whether the result means that the chain is trusted.
    public var isSuccess: Bool { type == .unspecified || type == .proceed }
}
