// SPDX-License-Identifier: MIT

public import LupineTLS

extension SecKey {
    /// The key's name in lists of pins: `sha256/` and the BASE64 of the SHA-256 of its SubjectPublicKeyInfo.
    public var pin: String { key.pin.description }

    /// A pin in the one form that `pin` has; curl's `sha256//BASE64` is taken too.
    ///
    /// - Throws: `CertificateError` when it is none.
    public static func pin(_ text: String) throws(CertificateError) -> String {
        try PublicKeyPin(text).description
    }
}

extension SecKey {
    /// The public keys of a PEM text, in its order.
    ///
    /// - Throws: `CertificateError` when one cannot be read, or when there is none.
    public static func keys(pem text: String) throws(CertificateError) -> [SecKey] {
        try PublicKey.pem(Array(text.utf8)).map(SecKey.init)
    }

    /// The public keys of a file: PEM, or one SubjectPublicKeyInfo in DER. It blocks while it reads.
    ///
    /// - Throws: `CertificateError` when the file or one of them cannot be read, or when there is none.
    public static func keys(file path: String) throws(CertificateError) -> [SecKey] {
        try PublicKey.bundle(file: path).map(SecKey.init)
    }
}
