// SPDX-License-Identifier: MIT

/// The certificates and keys of a PKCS#12 file (RFC 7292), after its password has been checked.
///
/// The number of rounds of key derivation is limited for the whole file (`PasswordCost`), and checked before each derivation.
struct PKCS12Contents {
    /// The certificates, in the order of the file.
    private(set) var certificates: [Certificate] = []
    /// The keys, in the order of the file.
    private(set) var keys: [PrivateKey] = []

    /// The largest file that is accepted.
    static let largestSize = 1 << 20
    /// The most certificates and keys in a file.
    static let itemLimit = 100

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - password: The password. Nil means the same as an empty one: an empty text and an absent password are both tried.
    init(_ bytes: [UInt8], password: String?) throws(CertificateError) {
        guard bytes.count <= PKCS12Contents.largestSize else {
            throw .tooLarge(.pkcs12, count: bytes.count, limit: PKCS12Contents.largestSize)
        }
        let file = try OpenSSLPKCS12(bytes)
        var items = OpenSSLPKCS12.Items(password: try file.verify(password: password ?? ""))
        try file.read(into: &items)
        for der in items.certificates { certificates.append(try Certificate(der: der)) }
        keys = items.keys.map(PrivateKey.init)
    }
}
