// SPDX-License-Identifier: MIT

extension PEM.Block {
    /// The content of a block with a certificate: the certificate alone, or followed by OpenSSL's trust settings.
    enum CertificateKind { case plain, withTrustSettings }

    /// The kind of the block according to its label; nil if it contains no certificate.
    var certificateKind: CertificateKind? {
        switch label {
        case "CERTIFICATE", "X509 CERTIFICATE": .plain
        case "TRUSTED CERTIFICATE": .withTrustSettings
        default: nil
        }
    }
}

extension Certificate {
    /// Returns the certificates in a PEM text, in order. Other blocks, and text between blocks, are skipped.
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

    /// Returns the certificates in a PEM string, like the function for bytes.
    public static func pem(_ text: String) throws(CertificateError) -> [Certificate] {
        try pem(Array(text.utf8))
    }

    /// Returns the certificates in a file: all in a PEM text, or one in DER. Blocks while it reads the file.
    ///
    /// - Throws: `CertificateError`: `unreadable`, or `at` with the path and the error in the file.
    public static func bundle(file path: String) throws(CertificateError) -> [Certificate] {
        try bundle(content: try CertificateFile.read(path, limit: PEM.largestSize), of: path)
    }

    /// Returns the certificates in `bytes`, the content of the file at `path`. Errors contain the path.
    package static func bundle(
        content bytes: [UInt8], of path: String
    ) throws(CertificateError) -> [Certificate] {
        do throws(CertificateError) {
            return try PEM.containsBlock(bytes) ? pem(bytes) : [Certificate(der: bytes)]
        } catch .at(let number, _, let error) {
            // The parser of the content does not know the path.
            throw .at(number: number, path: path, error)
        } catch {
            throw .at(number: 1, path: path, error)
        }
    }

    /// Returns the certificates in all regular files of a folder, in the order of the file names, without duplicates. Blocks
    /// while it reads the files.
    ///
    /// As with OpenSSL's `SSL_CERT_DIR`, files without a certificate are skipped; with `reportsOthers` they are errors. Files
    /// whose names begin with a dot are skipped.
    ///
    /// - Throws: `CertificateError`: `unreadable` for the folder; with `reportsOthers` the errors of `bundle(file:)`.
    public static func directory(
        path: String, reportsOthers: Bool = false
    ) throws(CertificateError) -> [Certificate] {
        var certificates: [Certificate] = []
        var seenCertificates: Set<Certificate> = []
        for name in try CertificateFile.names(in: path) where !name.hasPrefix(".") {
            let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            guard CertificateFile.isRegular(file) else { continue }
            do throws(CertificateError) {
                for certificate in try bundle(file: file) {
                    if seenCertificates.insert(certificate).inserted { certificates.append(certificate) }
                }
            } catch {
                if reportsOthers { throw error }
            }
        }
        return certificates
    }
}
