// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

extension Bundle: AlamofireExtended {}

/// Certificates that a program brings along: `Bundle.main`'s, which is the executable's folder for a tool, or those that
/// SwiftPM copies as resources, `Bundle.module`'s. Reading blocks.
extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates of the DER files at the top of the bundle, which end in `cer`, `crt` or `der`. A file that is
    /// something else is passed over.
    public var certificates: [SecCertificate] {
        paths(forResourcesOfTypes: ["cer", "CER", "crt", "CRT", "der", "DER"]).sorted().compactMap { path in
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return nil }
            return SecCertificateCreateWithData(nil, data)
        }
    }

    /// The keys of those certificates.
    public var publicKeys: [SecKey] { certificates.af.publicKeys }

    /// The files at the top of the bundle whose names end so, each once, in no order. The endings may begin with a dot.
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        let endings = types.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        return Array(Set(endings.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }))
    }
}
