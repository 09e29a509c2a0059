// SPDX-License-Identifier: MIT

public import LupineTLS

extension SecKey {
    /// The key's pin: `sha256/`, followed by the SHA-256 of the key's SubjectPublicKeyInfo in Base64.
    public var pin: String { key.pin.description }

    /// Converts a pin to the form of the property `pin`; accepts curl's form `sha256//BASE64` too.
    ///
    /// - Throws: `CertificateError` when the text is not a pin.
    public static func pin(_ text: String) throws(CertificateError) -> String {
        try PublicKeyPin(text).description
    }
}

extension SecKey {
    /// Returns the public keys in a PEM text, in order.
    ///
    /// - Throws: `CertificateError` when a key cannot be read, or when there is none.
    public static func keys(pem text: String) throws(CertificateError) -> [SecKey] {
        try PublicKey.pem(Array(text.utf8)).map(SecKey.init)
    }

    /// Returns the public keys in a file: any number in PEM, or one SubjectPublicKeyInfo in DER. Blocks while reading.
    ///
    /// - Throws: `CertificateError` when the file or a key cannot be read, or when there is no key.
    public static func keys(file path: String) throws(CertificateError) -> [SecKey] {
        try PublicKey.bundle(file: path).map(SecKey.init)
    }
}
