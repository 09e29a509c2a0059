// SPDX-License-Identifier: MIT

public import LupineTLS

extension SecCertificate {
    /// Returns the certificates in a file: any number in PEM, or one in DER. Blocks while reading.
    ///
    /// - Throws: `CertificateError` when the file or a certificate cannot be read, or when there is no certificate.
    public static func certificates(file path: String) throws(CertificateError) -> [SecCertificate] {
        try Certificate.bundle(file: path).map(SecCertificate.init)
    }

    /// Returns the certificates in all regular files of a folder, PEM or DER, in the order of the file names, without duplicates.
    /// Blocks while reading.
    ///
    /// - Parameters:
    ///   - path: The folder. Subfolders and names that begin with a dot are skipped.
    ///   - reportsOthers: Whether to throw for a file in which no certificate can be read; otherwise such a file is skipped.
    /// - Throws: `CertificateError` when the folder cannot be read; with `reportsOthers`, also for a file in which no certificate
    ///   can be read.
    public static func certificates(
        directory path: String, reportsOthers: Bool = false
    ) throws(CertificateError) -> [SecCertificate] {
        try Certificate.directory(path: path, reportsOthers: reportsOthers).map(SecCertificate.init)
    }
}
