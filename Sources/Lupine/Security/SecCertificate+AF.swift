// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

extension SecCertificate: AlamofireExtended {}
extension Array: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecCertificate {
    /// The certificate's public key, if it is RSA, elliptic-curve or Ed25519.
    public var publicKey: SecKey? { SecCertificateCopyKey(type) }

    /// Returns the certificates of a file, or of all files of a folder, in PEM or DER; subfolders are skipped. Blocks while it
    /// reads.
    ///
    /// - Throws: `CertificateError` if a file contains no certificate. In a folder such a file is an error too, because otherwise
    ///   a damaged certificate would be missing from the pins without notice.
    public static func certificates(at url: URL) throws -> [SecCertificate] {
        var isDirectory = ObjCBool(false)
        if unsafe FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory),
            isDirectory.boolValue
        {
            return try SecCertificate.certificates(directory: url.path, reportsOthers: true)
        }
        return try SecCertificate.certificates(file: url.path)
    }
}

extension AlamofireExtension where ExtendedType == [SecCertificate] {
    /// The certificates in DER.
    public var data: [Data] { type.map { SecCertificateCopyData($0) } }

    /// The certificates' public keys; keys of other types are omitted.
    public var publicKeys: [SecKey] { type.compactMap(\.af.publicKey) }
}
