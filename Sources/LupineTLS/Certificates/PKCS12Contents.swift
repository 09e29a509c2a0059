// SPDX-License-Identifier: MIT

/// The certificates and keys of a PKCS#12 file (RFC 7292), once its password has been checked.
///
/// Rounds of key derivation are counted before they are spent, those of all parts of the file together.
struct PKCS12Contents {
    /// In the order of the file.
    private(set) var certificates: [Certificate] = []
    /// In the order of the file.
    private(set) var keys: [PrivateKey] = []

    /// The largest file that is read.
    static let largestSize = 1 << 20
    /// How many certificates and keys a file may have.
    static let mostItems = 100

    /// What a file holds. Without a password, and with an empty one, both ways of writing down that there is none are
    /// tried.
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
