// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

extension Bundle: AlamofireExtended {}

/// Finds the certificates that are shipped with a program. For a command-line tool, `Bundle.main` is the folder of the
/// executable; `Bundle.module` contains the resources that SwiftPM copies. The files are read synchronously.
extension AlamofireExtension where ExtendedType: Bundle {
    /// The certificates of the files at the top level of the bundle with the extensions `cer`, `crt` or `der`. Files that contain
    /// no certificate in DER are skipped.
    public var certificates: [SecCertificate] {
        // Both spellings are listed, because file names are case-sensitive.
        paths(forResourcesOfTypes: ["cer", "CER", "crt", "CRT", "der", "DER"]).sorted().compactMap { path in
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return nil }
            return SecCertificateCreateWithData(nil, data)
        }
    }

    /// The public keys of `certificates`.
    public var publicKeys: [SecKey] { certificates.af.publicKeys }

    /// Returns the files at the top level of the bundle with these extensions, each once, in no particular order. The extensions
    /// may begin with a dot.
    public func paths(forResourcesOfTypes types: [String]) -> [String] {
        let extensions = types.map { $0.hasPrefix(".") ? String($0.dropFirst()) : $0 }
        return Array(Set(extensions.flatMap { type.paths(forResourcesOfType: $0, inDirectory: nil) }))
    }
}
