// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@Suite struct CertificatesKeyTests {
    private static func certificate(_ name: String) throws -> Certificate {
        try #require(try Certificate.pem(try PKI.bytes("\(name).pem")).first)
    }

    @Test(arguments: [
        "client-rsa.key", "client-rsa-encrypted.key", "client-rsa-traditional.key", "client-rsa-identity.pem",
        "client-rsa-traditional-encrypted.key", "client-ecdsa-encrypted.key",
        "client-ecdsa-traditional.key", "client-ecdsa-identity.pem",
    ])
    func everyPEMFormIsRead(_ file: String) throws {
        let key = try PrivateKey(pem: try PKI.bytes(file), password: PKI.password)
        let owner = try Self.certificate(file.hasPrefix("client-rsa") ? "client-rsa" : "client-ecdsa")
        #expect(key.publicKey == owner.publicKey)
        #expect(try TLSIdentity(certificate: owner, privateKey: key).privateKey == key)
        var text = ""
        dump(key, to: &text)
        #expect(
            text == "- PrivateKey\n" && "\(key)" == "PrivateKey" && String(reflecting: key) == "PrivateKey")
    }

    @Test(arguments: [
        "client-rsa-encrypted.key", "client-rsa-traditional-encrypted.key", "client-ecdsa-encrypted.key",
    ])
    func aWrongOrMissingPassword(_ file: String) throws {
        let text = try PKI.bytes(file)
        #expect(throws: CertificateError.passwordMissing(.privateKey)) { try PrivateKey(pem: text) }
        for password in ["", "wrong", String(repeating: "x", count: 100_000), "lupine\0x"] {
            #expect(throws: CertificateError.wrongPassword(.privateKey)) {
                try PrivateKey(pem: text, password: password)
            }
        }
    }

    @Test func malformedKeysAreRefused() throws {
        #expect(throws: CertificateError.missing(.privateKey)) {
            try PrivateKey(pem: try PKI.bytes("good.pem"))
        }
        #expect(throws: CertificateError.malformed(.privateKey, reason: "empty")) { try PrivateKey(der: []) }
        let limit = PrivateKey.largestSize
        #expect(throws: CertificateError.tooLarge(.privateKey, count: limit + 1, limit: limit)) {
            try PrivateKey(der: [UInt8](repeating: 0, count: limit + 1))
        }
        let key = Base64.decode(try Self.body("good.key").utf8) ?? []
        #expect(try PrivateKey(der: key).publicKey == Self.certificate("good").publicKey)
        for count in 0..<key.count {
            #expect(throws: CertificateError.self) { try PrivateKey(der: Array(key.prefix(count))) }
        }
        // An encrypted key in DER is refused without asking for its password.
        let encrypted = Base64.decode(try Self.body("client-rsa-encrypted.key").utf8) ?? []
        #expect(throws: CertificateError.self) { try PrivateKey(der: encrypted) }
    }

    /// Returns the Base64 text between the BEGIN and END lines.
    private static func body(_ file: String) throws -> String {
        try PKI.text(file).split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    }

    @Test(arguments: ["client-rsa-encrypted.key", "client-ecdsa-encrypted.key"])
    func aKeyWithTooManyRoundsIsRefused(_ file: String) throws {
        var der = try #require(Base64.decode(try Self.body(file).utf8))
        // PBKDF2's count of 2048 becomes 32767, in as many bytes.
        let count: [UInt8] = [0x02, 0x02, 0x08, 0x00]
        let start = try #require(der.indices.first { der[$0...].starts(with: count) })
        der[start + 2] = 0x7F
        der[start + 3] = 0xFF
        #expect(throws: CertificateError.wrongPassword(.privateKey)) {
            try PrivateKey(pem: Self.pem(der), password: PKI.password)
        }
        // A count of 6 bytes needs 4 bytes more, which are taken from the salt before it (04 08 …).
        der[start - 9] -= 4
        der.replaceSubrange(
            (start - 4)..<(start + 4), with: [0x02, 0x06, 0x00, 0x80, 0x00, 0x00, 0x00, 0x00])
        #expect(
            throws: CertificateError.tooCostly(.privateKey, rounds: 1 << 39, limit: 5_000_000)
        ) { try PrivateKey(pem: Self.pem(der), password: PKI.password) }
    }

    private static func pem(_ der: [UInt8]) -> String {
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n\(Base64.encode(der))\n-----END ENCRYPTED PRIVATE KEY-----\n"
    }

    @Test func aKeyMustMatchItsCertificate() throws {
        let key = try PrivateKey(pem: try PKI.text("good.key"))
        #expect(throws: CertificateError.keyMismatch(subject: "CN=rsa,O=Lupine tests")) {
            try TLSIdentity(certificate: try Self.certificate("rsa"), privateKey: key)
        }
        #expect(try key == PrivateKey(pem: try PKI.text("good.key")))
        #expect(try key != PrivateKey(pem: try PKI.text("rsa.key")))
        #expect(
            try TLSIdentity(certificate: Self.certificate("renewed"), privateKey: key).intermediates == [])
    }

    @Test func identityFromPEM() throws {
        let identity = try TLSIdentity(
            pemChain: try PKI.bytes("client-ecdsa-identity.pem"),
            pemKey: try PKI.bytes("client-ecdsa-identity.pem"))
        #expect(try identity.certificate == Self.certificate("client-ecdsa"))
        #expect(try identity.intermediates == [Self.certificate("client-intermediate")])
    }

    @Test(arguments: [
        ("client-rsa", "client-rsa", "lupine", false), ("client-ecdsa", "client-ecdsa", "lupine", false),
        ("client-untrusted", "client-untrusted", "lupine", false),
        ("client-rsa-no-password", "client-rsa", nil, false),
        ("client-rsa-no-password", "client-rsa", "", false),
        ("client-ecdsa-no-password", "client-ecdsa", nil, false),
        ("client-ecdsa-chain", "client-ecdsa", "lupine", true),
        ("client-ecdsa-chain-no-password", "client-ecdsa", nil, true),
    ])
    func identityFromPKCS12(_ file: String, _ owner: String, _ password: String?, _ hasChain: Bool) throws {
        let identity = try TLSIdentity(pkcs12: try PKI.bytes("\(file).p12"), password: password)
        #expect(try identity.certificate == Self.certificate(owner))
        #expect(try identity.intermediates == (hasChain ? [Self.certificate("client-intermediate")] : []))
        #expect(identity.privateKey.publicKey == identity.certificate.publicKey)
        let again = try TLSIdentity(pkcs12: try PKI.bytes("\(file).p12"), password: password)
        #expect(again == identity && again.hashValue == identity.hashValue)
    }

    @Test func malformedPKCS12IsRefused() throws {
        let file = try PKI.bytes("client-ecdsa.p12")
        for password in [nil, "", "wrong", "lupine\0"] {
            #expect(throws: CertificateError.wrongPassword(.pkcs12)) {
                try TLSIdentity(pkcs12: file, password: password)
            }
        }
        #expect(throws: CertificateError.missing(.privateKey)) {
            try TLSIdentity(pkcs12: try PKI.bytes("client-no-key.p12"), password: PKI.password)
        }
        #expect {
            try TLSIdentity(pkcs12: try PKI.bytes("client-rsa-legacy.p12"), password: PKI.password)
        } throws: { error in
            guard case .unsupported(.pkcs12, _)? = error as? CertificateError else { return false }
            return true
        }
        for count in 0..<file.count {
            #expect(throws: CertificateError.self) {
                try TLSIdentity(pkcs12: Array(file.prefix(count)), password: PKI.password)
            }
        }
        let limit = 1 << 20
        #expect(throws: CertificateError.tooLarge(.pkcs12, count: limit + 1, limit: limit)) {
            try TLSIdentity(pkcs12: [UInt8](repeating: 0, count: limit + 1))
        }
    }

    @Test func aPKCS12WithTooManyRoundsIsRefused() throws {
        var file = try PKI.bytes("client-ecdsa.p12")
        // The last count in the file is that of the MAC, after its salt of 8 bytes.
        let count: [UInt8] = [0x02, 0x02, 0x08, 0x00]
        #expect(file.suffix(4).elementsEqual(count))
        let start = file.count - 4
        #expect(file[start - 9] == 8)
        file[start - 9] = 5
        file.replaceSubrange((start - 3)..., with: [0x02, 0x05, 0x00, 0x80, 0x00, 0x00, 0x00])
        #expect(throws: CertificateError.tooCostly(.pkcs12, rounds: 1 << 31, limit: 5_000_000)) {
            try TLSIdentity(pkcs12: file, password: PKI.password)
        }
    }
}
