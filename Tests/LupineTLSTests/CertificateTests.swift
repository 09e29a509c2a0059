// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTestKit
import Testing

@Suite struct CertificateTests {
    static func certificate(_ name: String) throws -> Certificate {
        try #require(try Certificate.pem(try PKI.bytes("\(name).pem")).first)
    }

    @Test(arguments: try PKIEntry.all())
    func everyFixtureHasTheFieldsThatOpenSSLReports(_ entry: PKIEntry) throws {
        let certificate = try Self.certificate(entry.name)
        #expect(certificate.serialNumber.description == entry.serial)
        #expect(certificate.fingerprint.description == entry.fingerprint)
        #expect(certificate.publicKey?.pin.description == entry.pin)
        #expect(Self.spaced(certificate.notBefore) == entry.notBefore)
        #expect(Self.spaced(certificate.notAfter) == entry.notAfter)
        #expect(try Certificate(der: certificate.der) == certificate)
        let identity = try TLSIdentity(
            pemChain: try PKI.text("\(entry.name).pem"), pemKey: try PKI.text("\(entry.name).key"))
        #expect(identity.privateKey.publicKey == certificate.publicKey)
        #expect(identity.privateKey.type == certificate.keyType)
    }

    /// Returns a time in the form of the fixtures' `facts.txt`.
    private static func spaced(_ time: UnixTime) -> String {
        String(time.description.map { $0 == "T" ? " " : $0 })
    }

    @Test func aLeafsFields() throws {
        let good = try Self.certificate("good")
        #expect(good.subject.description == "CN=good,O=Lupine tests")
        #expect(good.subject.commonName == "good")
        #expect(good.issuer.description == "CN=Lupine intermediate,O=Lupine tests")
        #expect(try good.issuer == Self.certificate("intermediate").subject)
        #expect(good.keyType == .ec(curve: "prime256v1", bits: 256))
        #expect(good.signatureAlgorithm == "sha256WithRSAEncryption")
        #expect(
            good.subjectAlternativeNames == [
                .dns("good.test"), .dns("localhost"), .ip([127, 0, 0, 1]),
                .ip([UInt8](repeating: 0, count: 15) + [1]),
            ])
        #expect(!good.isAuthority && !good.isSelfSigned && !good.mustStaple)
        #expect(good.ocspURLs.isEmpty && good.crlURLs.isEmpty)
        #expect(good.notAfter.description == "2099-12-31T23:59:59Z")
        #expect(good.der == (try PKI.bytes("good.der")))
    }

    @Test(arguments: [
        ("rsa", KeyType.rsa(bits: 2048)), ("weak-key", .rsa(bits: 1024)), ("rsa-pss", .rsa(bits: 2048)),
        ("p384", .ec(curve: "secp384r1", bits: 384)), ("weak-curve", .ec(curve: "prime192v1", bits: 192)),
        ("weak-curve-224", .ec(curve: "secp224r1", bits: 224)), ("ed25519", .ed25519),
    ])
    func keyTypes(_ name: String, _ type: KeyType) throws {
        #expect(try Self.certificate(name).keyType == type)
        #expect(try Self.certificate(name).publicKey?.type == type)
    }

    @Test(arguments: [
        ("root", true, true), ("self-signed", false, true), ("self-signed-ca", true, true),
        ("intermediate", true, false), ("good", false, false), ("intermediate-cross", true, false),
        ("cycle-two", true, false),
    ])
    func authoritiesAndSelfSigned(_ name: String, _ isAuthority: Bool, _ isSelfSigned: Bool) throws {
        let certificate = try Self.certificate(name)
        #expect(certificate.isAuthority == isAuthority)
        #expect(certificate.isSelfSigned == isSelfSigned)
    }

    @Test func revocationSources() throws {
        #expect(try Self.certificate("must-staple").mustStaple)
        #expect(try Self.certificate("good-both").ocspURLs == ["http://revocation.test/ocsp"])
        #expect(try Self.certificate("good-both").crlURLs == ["http://revocation.test/intermediate.crl"])
        #expect(try Self.certificate("good-crl").ocspURLs.isEmpty)
        #expect(try Self.certificate("checked").crlURLs == ["http://revocation.test/checked.crl"])
    }

    @Test func unusualNamesAreKept() throws {
        #expect(
            try Self.certificate("nul-name").subjectAlternativeNames == [.dns("good.test\0.evil.test")])
        #expect(try Self.certificate("no-san").subjectAlternativeNames == [])
        #expect(try Self.certificate("no-san").subject.commonName == "localhost")
        #expect(try Self.certificate("idna").subject.commonName == "bücher.test")
        #expect(try Self.certificate("idna").subject.description.contains("bücher.test"))
        #expect(try Self.certificate("many-names").subjectAlternativeNames.count >= 1000)
        #expect(try Self.certificate("uri-san").subjectAlternativeNames.contains(.uri("https://localhost/")))
    }

    @Test func equalityOfKeysAndCertificates() throws {
        let good = try Self.certificate("good")
        #expect(try good == Self.certificate("good"))
        #expect(try good.hashValue == Self.certificate("good").hashValue)
        #expect(try good != Self.certificate("renewed"))
        #expect(try good.publicKey == Self.certificate("renewed").publicKey)
        #expect(try good.publicKey != Self.certificate("renewed-other-key").publicKey)
        #expect(try good != Self.certificate("bad-signature"))
        let all = try PKIEntry.all().map { try Self.certificate($0.name) }
        #expect(Set(all + all).count == all.count)
    }

    @Test func everyTruncationIsRefused() throws {
        let der = try PKI.bytes("good.der")
        for count in 0..<der.count {
            #expect(throws: CertificateError.self) { try Certificate(der: Array(der.prefix(count))) }
        }
        #expect(throws: CertificateError.malformed(.certificate, reason: "1 bytes after its end")) {
            try Certificate(der: der + [0])
        }
        #expect(throws: CertificateError.malformed(.certificate, reason: "empty")) {
            try Certificate(der: [])
        }
        let limit = Certificate.largestSize
        #expect(throws: CertificateError.tooLarge(.certificate, count: limit + 1, limit: limit)) {
            try Certificate(der: [UInt8](repeating: 0x30, count: limit + 1))
        }
    }

    @Test func aChangedByteIsReadOrRefused() throws {
        let der = try PKI.bytes("good.der")
        for index in der.indices {
            for value in [0x00, 0x80, 0xFF, der[index] ^ 1] where value != der[index] {
                var changed = der
                changed[index] = value
                guard let certificate = try? Certificate(der: changed) else { continue }
                #expect(certificate.der == changed, "byte \(index)")
                _ = (certificate.subject, certificate.issuer, certificate.description, certificate.keyType)
                _ = (certificate.isSelfSigned, certificate.mustStaple, certificate.isAuthority)
            }
        }
    }

    @Test func aMalformedTimeIsRefused() throws {
        var der = try PKI.bytes("good.der")
        let start = try #require(
            der.indices.first { der[$0...].starts(with: Array("240101000000Z".utf8)) })
        der[start + 2] = UInt8(ascii: "X")
        #expect(throws: CertificateError.malformed(.certificate, reason: "notBefore is no time")) {
            try Certificate(der: der)
        }
    }

    @Test func aNegativeSerialNumberIsRead() throws {
        var der = try PKI.bytes("good.der")
        let serial: [UInt8] = [0x02, 0x04, 0x4C, 0x00, 0x01, 0x00]
        let start = try #require(der.indices.first { der[$0...].starts(with: serial) })
        der[start + 2] = 0xFF
        der[start + 3] = 0x7F
        #expect(try Certificate(der: der).serialNumber.description == "-80FF00")
    }
}
