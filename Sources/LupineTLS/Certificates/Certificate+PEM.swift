// SPDX-License-Identifier: MIT

extension PEM.Block {
    /// The kind of a certificate block.
    enum CertificateKind { case plain, withTrustSettings }

    /// The kind of certificate in the block; nil if it contains none.
    var certificateKind: CertificateKind? {
        switch label {
        case "CERTIFICATE", "X509 CERTIFICATE": .plain
        case "TRUSTED CERTIFICATE": .withTrustSettings
        default: nil
        }
    }
}

extension Certificate {
    /// The certificates in a PEM text, in order; other blocks and text between them are skipped.
    ///
    /// - Throws: `CertificateError`: `at` with the number of the certificate that cannot be read, `missing` when there
    ///   is none.
    public static func pem(_ text: [UInt8]) throws(CertificateError) -> [Certificate] {
        var certificates: [Certificate] = []
        for block in try PEM.blocks(in: text) {
            guard let kind = block.certificateKind else { continue }
            do throws(CertificateError) {
                certificates.append(
                    try Certificate(der: try block.bytes(), trustSettings: kind == .withTrustSettings))
            } catch {
                throw .at(number: certificates.count + 1, path: nil, error)
            }
        }
        guard !certificates.isEmpty else { throw .missing(.certificate) }
        return certificates
    }

    /// The certificates in a PEM string; see the function for bytes.
    public static func pem(_ text: String) throws(CertificateError) -> [Certificate] {
        try pem(Array(text.utf8))
    }

    /// The certificates in a file: PEM, or one in DER.
    ///
    /// - Throws: `CertificateError`: `unreadable`, or `at` with the path and the error in the file.
    public static func bundle(file path: String) throws(CertificateError) -> [Certificate] {
        try bundle(content: try CertificateFile.read(path, limit: PEM.largestSize), of: path)
    }

    /// The certificates in a file's content; `path` is used in errors.
    package static func bundle(
        content bytes: [UInt8], of path: String
    ) throws(CertificateError) -> [Certificate] {
        do throws(CertificateError) {
            return try PEM.containsBlock(bytes) ? pem(bytes) : [Certificate(der: bytes)]
        } catch .at(let number, _, let error) {
            throw .at(number: number, path: path, error)
        } catch {
            throw .at(number: 1, path: path, error)
        }
    }

    /// The certificates in all regular files of a folder, in the order of the file names, without duplicates.
    ///
    /// As with OpenSSL's `SSL_CERT_DIR`, files without a certificate are skipped; with `reportsOthers` they are errors. Names
    /// that begin with a dot are skipped.
    ///
    /// - Throws: `CertificateError`: `unreadable` for the folder; with `reportsOthers` the errors of `bundle(file:)`.
    public static func directory(
        path: String, reportsOthers: Bool = false
    ) throws(CertificateError) -> [Certificate] {
        var certificates: [Certificate] = []
        var known: Set<Certificate> = []
        for name in try CertificateFile.names(in: path) where !name.hasPrefix(".") {
            let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            guard CertificateFile.isRegular(file) else { continue }
            do throws(CertificateError) {
                for certificate in try bundle(file: file) where known.insert(certificate).inserted {
                    certificates.append(certificate)
                }
            } catch {
                if reportsOthers { throw error }
            }
        }
        return certificates
    }
}
