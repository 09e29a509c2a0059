// SPDX-License-Identifier: MIT

public import LupineTLS

extension SecCertificate {
    /// The certificates of a file: PEM, or one in DER. It blocks while it reads.
    ///
    /// - Throws: `CertificateError` when the file or one of them cannot be read, or when there is none.
    public static func certificates(file path: String) throws(CertificateError) -> [SecCertificate] {
        try Certificate.bundle(file: path).map(SecCertificate.init)
    }

    /// The certificates of all regular files of a folder, PEM or DER, in the order of their names, each once. It blocks
    /// while it reads.
    ///
    /// - Parameters:
    ///   - path: The folder. Those in it are not entered, and names that begin with a dot are left out.
    ///   - reportsOthers: Whether a file that holds no certificate is an error; else it is passed over.
    /// - Throws: `CertificateError` when the folder cannot be read.
    public static func certificates(
        directory path: String, reportsOthers: Bool = false
    ) throws(CertificateError) -> [SecCertificate] {
        try Certificate.directory(path: path, reportsOthers: reportsOthers).map(SecCertificate.init)
    }
}
