// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@Suite struct CertificatesPEMTests {
    private static func chain() throws -> String { try PKI.text("good-chain.pem") }

    @Test func aBundleWithComments() throws {
        let bundle = try Certificate.bundle(file: PKI.path("bundle.pem"))
        let expected = try Certificate.pem(try PKI.text("root.pem") + PKI.text("client-root.pem"))
        #expect(bundle == expected)
    }

    @Test(
        arguments: [
            (
                "LF becomes CRLF",
                { @Sendable (text: String) -> String in String(text.map { $0 == "\n" ? "\r\n" : $0 }) }
            ),
            ("the old label", { $0.replacing(" CERTIFICATE", with: " X509 CERTIFICATE") }),
            ("empty trust settings", { $0.replacing(" CERTIFICATE", with: " TRUSTED CERTIFICATE") }),
            ("text before and after", { "subject: x\n\n\($0)\nend of it: -----\n" }),
            ("no line end at the end", { String($0.dropLast()) }),
            ("spaces at the ends of lines", { $0.replacing("\n", with: " \t\n") }),
            ("another block before", { "-----BEGIN X-----\n?:?\n-----END X-----\n" + $0 }),
        ] as [(String, @Sendable (String) -> String)])
    func variationsAreReadAsTheSameCertificates(_ name: String, _ change: @Sendable (String) -> String) throws
    {
        let certificates = try Certificate.pem(try Self.chain())
        #expect(certificates.count == 2)
        #expect(try Certificate.pem(change(try Self.chain())) == certificates)
    }

    @Test func errorsNameTheBlock() throws {
        let chain = try Self.chain()
        let root = try PKI.text("root.pem")
        #expect(throws: CertificateError.missing(.certificate)) { try Certificate.pem("") }
        #expect(throws: CertificateError.missing(.certificate)) {
            try Certificate.pem(try PKI.text("good.key"))
        }
        let broken = root.replacing("MII", with: "M*I")
        #expect(
            throws: CertificateError.at(
                number: 3, path: nil, .malformed(.pem, reason: "CERTIFICATE is not in BASE64"))
        ) { try Certificate.pem(chain + broken) }
        #expect(
            throws: CertificateError.at(
                number: 3, path: nil, .malformed(.pem, reason: "CERTIFICATE has no end"))
        ) { try Certificate.pem(chain + "-----BEGIN CERTIFICATE-----\nMII") }
        let empty = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
        #expect(throws: CertificateError.at(number: 1, path: nil, .malformed(.certificate, reason: "empty")))
        {
            try Certificate.pem(empty + chain)
        }
        let limit = 16 << 20
        #expect(throws: CertificateError.tooLarge(.pem, count: limit + 1, limit: limit)) {
            try Certificate.pem([UInt8](repeating: 0x20, count: limit + 1))
        }
        #expect(throws: CertificateError.unreadable(path: PKI.path("none"), errorNumber: 2)) {
            try Certificate.bundle(file: PKI.path("none"))
        }
    }

    @Test func everyTruncationIsReadOrRefused() throws {
        let text = try PKI.bytes("good-chain.pem")
        let whole = try Certificate.pem(text)
        for count in 0...text.count {
            if let read = try? Certificate.pem(Array(text.prefix(count))) {
                #expect(read == Array(whole.prefix(read.count)), "cut at \(count)")
            }
        }
    }

    /// Checks that DER is not mistaken for PEM: a signature may contain any octets, even a line of PEM.
    @Test(arguments: ["\n-----BEGIN PRIVATE KEY-----\n", "\n-----BEGIN CERTIFICATE-----\n"])
    func aCertificateInDERWithALineOfPEMInIt(line: String) throws {
        var der = try PKI.bytes("good.der")
        der.replaceSubrange(der.index(der.endIndex, offsetBy: -line.utf8.count)..., with: line.utf8)
        let certificate = try Certificate(der: der)
        #expect(try Certificate.bundle(content: der, of: "x.der") == [certificate])
        var reader = RootReader()
        try reader.read(content: der, of: "x.der")
        #expect(reader.index.certificates == [certificate])
        let text = Array(Certificate.pemText(of: der).utf8)
        #expect(try Certificate.bundle(content: text, of: "x.pem") == [certificate])
    }

    /// Checks the same for a key.
    @Test func aPublicKeyInDERWithALineOfPEMInIt() throws {
        let rsa = try #require(try Certificate(der: PKI.bytes("root.der")).publicKey)
        let line = Array("\n-----BEGIN PUBLIC KEY-----\n".utf8)
        var der = rsa.subjectPublicKeyInfo
        // In the middle of the modulus.
        der.replaceSubrange(100..<100 + line.count, with: line)
        let key = try PublicKey(subjectPublicKeyInfo: der)
        let folder = try RootFolder()
        #expect(try PublicKey.bundle(file: folder.write(der, to: "key.der")) == [key])
    }

    @Test func filesAndFolders() throws {
        #expect(
            try Certificate.bundle(file: PKI.path("good.der")) == Certificate.pem(try PKI.text("good.pem")))
        let bundle = try Certificate.bundle(file: PKI.path("bundle.pem"))
        #expect(Set(try Certificate.directory(path: PKI.roots)) == Set(bundle))
        // The whole folder of fixtures: keys and texts are skipped, duplicates count once.
        let all = try Certificate.directory(path: PKI.folder + "/")
        #expect(all.count == Set(all).count && all.count >= 70)
        #expect(throws: CertificateError.self) {
            try Certificate.directory(path: PKI.folder, reportsOthers: true)
        }
        #expect(throws: CertificateError.unreadable(path: PKI.path("none"), errorNumber: 2)) {
            try Certificate.directory(path: PKI.path("none"))
        }
        #expect(throws: CertificateError.unreadable(path: "a\0b", errorNumber: 22)) {
            try Certificate.directory(path: "a\0b")
        }
    }

    /// The vectors of RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64(_ text: String, _ encoded: String) throws {
        let bytes = Array(text.utf8)
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded.utf8) == bytes)
    }

    @Test(arguments: [
        "A", "AA", "AAA", "AA=", "AB==", "AAB=", "====", "AA==AA==", "AA=A", "A A=", "A===", "AAAA=",
        "Zg=", "Zg", "Z===", "Z*==",
    ])
    func malformedBase64(_ text: String) { #expect(Base64.decode(text.utf8) == nil) }

    @Test func pins() throws {
        let entry = try PKIEntry.named("good")
        let pin = try PublicKeyPin(entry.pin)
        #expect(pin.description == entry.pin)
        #expect(try PublicKeyPin(entry.pin.replacing("sha256/", with: "sha256//")) == pin)
        for text in [
            "", "sha256/", "sha1/AAAA", "SHA256/AAAA", "sha256/AAAA", entry.pin + "=", " " + entry.pin,
        ] {
            #expect(throws: CertificateError.self) { try PublicKeyPin(text) }
        }
    }
}
