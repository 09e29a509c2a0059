// SPDX-License-Identifier: MIT

/// A private key. Keys with the same public key are equal. Descriptions and mirrors never show the secret.
public struct PrivateKey: Sendable {
    /// The key as an object of OpenSSL.
    package let handle: OpenSSLHandle<KeyObject>

    /// The largest PEM or DER that is accepted.
    public static let largestSize = 1 << 20

    /// Creates a value for a key that OpenSSL has already parsed or generated.
    package init(_ handle: OpenSSLHandle<KeyObject>) { self.handle = handle }

    /// Parses a PKCS#8 PrivateKeyInfo, an RSAPrivateKey (PKCS#1) or an ECPrivateKey (SEC 1) in DER.
    public init(der: [UInt8]) throws(CertificateError) {
        guard der.count <= PrivateKey.largestSize else {
            throw .tooLarge(.privateKey, count: der.count, limit: PrivateKey.largestSize)
        }
        handle = try OpenSSLHandle.privateKey(der: der)
    }

    /// Parses the first private key of a PEM text: PKCS#8, encrypted or not, or the traditional forms for RSA and EC.
    ///
    /// A missing password is an error; OpenSSL does not ask for one on the terminal. Without encryption the password is ignored.
    ///
    /// - Throws: `CertificateError`: `missing` when there is no key, `passwordMissing`, `wrongPassword`, `tooCostly`.
    public init(pem text: [UInt8], password: String? = nil) throws(CertificateError) {
        for block in try PEM.blocks(in: text) {
            switch block.label {
            case "ENCRYPTED PRIVATE KEY":
                let der = try PrivateKey.checkedSize(try block.bytes())
                guard let password else { throw .passwordMissing(.privateKey) }
                handle = try .privateKey(encryptedDER: der, password: Array(password.utf8))
                return
            case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
                if block.hasHeaders {
                    guard let password else { throw .passwordMissing(.privateKey) }
                    // `block.text` does not include the line end after its END line.
                    let blockText = try PrivateKey.checkedSize(Array(block.text) + [0x0A])
                    handle = try .privateKey(block: blockText, password: Array(password.utf8))
                } else {
                    handle = try .privateKey(der: try PrivateKey.checkedSize(try block.bytes()))
                }
                return
            default: continue
            }
        }
        throw .missing(.privateKey)
    }

    /// Parses the first private key of a PEM string, like the initializer for bytes.
    public init(pem text: String, password: String? = nil) throws(CertificateError) {
        try self.init(pem: Array(text.utf8), password: password)
    }

    /// The public key.
    public var publicKey: PublicKey { PublicKey(verified: handle.subjectPublicKeyInfo) }

    /// The algorithm and strength.
    public var type: KeyType { handle.type }

    /// Returns the bytes, or throws if there are too many.
    private static func checkedSize(_ bytes: [UInt8]) throws(CertificateError) -> [UInt8] {
        guard bytes.count <= largestSize else {
            throw .tooLarge(.privateKey, count: bytes.count, limit: largestSize)
        }
        return bytes
    }
}

extension PrivateKey: Hashable {
    public static func == (left: PrivateKey, right: PrivateKey) -> Bool {
        left.handle === right.handle || left.publicKey == right.publicKey
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(publicKey) }
}

extension PrivateKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "PrivateKey" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
