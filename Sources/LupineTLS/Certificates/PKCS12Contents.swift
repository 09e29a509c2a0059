// SPDX-License-Identifier: MIT

/// The certificates and keys of a PKCS#12 file (RFC 7292), after its password has been checked.
///
/// Rounds of key derivation are counted over all parts of the file, and checked against the limit before they are executed.
struct PKCS12Contents {
    /// The certificates, in the order of the file.
    private(set) var certificates: [Certificate] = []
    /// The keys, in the order of the file.
    private(set) var keys: [PrivateKey] = []

    /// The largest file that is accepted.
    static let largestSize = 1 << 20
    /// The most certificates and keys in a file.
    static let itemLimit = 100

    /// Reads a file. Without a password, or with an empty one, both encodings of an absent password are tried.
    init(_ bytes: [UInt8], password: String?) throws(CertificateError) {
        guard bytes.count <= PKCS12Contents.largestSize else {
            throw .tooLarge(.pkcs12, count: bytes.count, limit: PKCS12Contents.largestSize)
        }
        let file = try OpenSSLPKCS12(bytes)
        var reading = OpenSSLPKCS12.Reading(password: try file.verify(password: password ?? ""))
        try file.read(into: &reading)
        for der in reading.certificates { certificates.append(try Certificate(der: der)) }
        keys = reading.keys.map(PrivateKey.init)
    }
}
