// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

/// Certificates and keys, and the values that are read from them.
@Suite struct SecCertificateTests {
    @Test func oneCertificateInDERAndNothingElse() throws {
        let der = Data(try PKI.bytes("good.der"))
        let certificate = try #require(SecCertificateCreateWithData(nil, der))
        #expect(SecCertificateCopyData(certificate) == der)
        #expect(certificate == SecCertificateCreateWithData(nil, der))
        #expect(certificate != SecCertificateCreateWithData(nil, Data(try PKI.bytes("root.der"))))
        #expect(Set([certificate, SecCertificateCreateWithData(nil, der)]).count == 1)
        let others: [(String, Data)] = [
            ("PEM", Data(try PKI.bytes("good.pem"))), ("a key", Data(try PKI.bytes("good.key"))),
            ("nothing", Data()), ("noise", Data((0..<200).map { UInt8($0) })),
            ("something behind it", der + [0]), ("broken off", der.dropLast()),
        ]
        for (summary, bytes) in others {
            #expect(SecCertificateCreateWithData(nil, bytes) == nil, "\(summary)")
        }
    }

    @Test func keysAreComparedByAlgorithmAndValue() throws {
        let key = try #require(SecCertificateCopyKey(SecurityFixture.certificate("good")))
        #expect(key == SecCertificateCopyKey(try SecurityFixture.certificate("renewed")))
        #expect(key != SecCertificateCopyKey(try SecurityFixture.certificate("renewed-other-key")))
        for name in ["rsa", "ecdsa", "ed25519", "p384"] {
            #expect(SecCertificateCopyKey(try SecurityFixture.certificate(name)) != nil, "\(name)")
        }
    }

    @Test func theSummaryIsTheCommonName() throws {
        #expect(
            SecCertificateCopySubjectSummary(try SecurityFixture.certificate("idna")) == "bücher.test")
    }

    @Test func anIdentityOfPEM() throws {
        let identity = try SecIdentity(
            pemChain: PKI.text("client-ecdsa-chain.pem"), pemKey: PKI.text("client-ecdsa-encrypted.key"),
            password: PKI.password)
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(try certificate == SecurityFixture.certificate("client-ecdsa"))
        #expect(throws: (any Error).self) {
            _ = try SecIdentity(
                pemChain: PKI.text("client-rsa.pem"), pemKey: PKI.text("client-ecdsa.key"))
        }
    }

    struct Import: Sendable, CustomTestStringConvertible {
        let file: String
        var password: String? = PKI.password
        var status = errSecSuccess
        var chain = 0

        var testDescription: String { "\(file), \(password ?? "no password")" }
    }

    static let imports = [
        Import(file: "client-rsa.p12", chain: 1),
        Import(file: "client-ecdsa-chain.p12", chain: 2),
        Import(file: "client-ecdsa-no-password.p12", password: nil, chain: 1),
        Import(file: "client-rsa.p12", password: "wrong", status: errSecAuthFailed),
        Import(file: "client-rsa.p12", password: nil, status: errSecPassphraseRequired),
        Import(file: "client-no-key.p12", status: errSecItemNotFound),
        Import(file: "client-rsa-legacy.p12", status: errSecUnimplemented),
        Import(file: "good.der", status: errSecDecode),
    ]

    @Test(arguments: imports)
    func anIdentityOfPKCS12(_ row: Import) throws {
        var items: CFArray? = ["left over"]
        var options: [String: Any] = [:]
        if let password = row.password { options[kSecImportExportPassphrase] = password }
        let status = SecPKCS12Import(Data(try PKI.bytes(row.file)), options, &items)
        #expect(status == row.status)
        guard row.status == errSecSuccess else {
            #expect(items == nil)
            return
        }
        let item = try #require((items as? [[String: Any]])?.first)
        let chain = try #require(item[kSecImportItemCertChain] as? [SecCertificate])
        #expect(chain.count == row.chain)
        let identity = try #require(item[kSecImportItemIdentity] as? SecIdentity)
        var certificate: SecCertificate?
        #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
        #expect(certificate == chain.first)
        #expect(item[kSecImportItemTrust] is SecTrust)
        #expect(
            SecPKCS12Import(Data(), [kSecImportExportPassphrase: 7], &items) == errSecParam)
    }
}
