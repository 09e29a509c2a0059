// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit
import Testing

@testable import LupineTLS

/// Tests of handshakes that fail: versions, ciphers, protocols, alerts, limits.
@Suite struct EngineRefusalTests {
    @Test(arguments: [
        (TLSVersion.v1_2, TLSVersion.v1_3), (.v1_3, .v1_2),
    ])
    func noCommonVersion(_ client: TLSVersion, _ server: TLSVersion) throws {
        var configuration = try TLSServerConfiguration.test()
        configuration.minimumVersion = server
        configuration.maximumVersion = server
        let pair = try EnginePair(.test(client), configuration)
        pair.runHandshakes()
        #expect(pair.clientError == .versionNotShared)
        #expect(pair.serverError == .versionNotShared)
    }

    /// Checks the limits of chains that are slow to parse: OpenSSL parses every key before the owner is asked about the peer.
    @Test(arguments: TLSVersion.tested)
    func chainsThatAreSlowToParseAreRefused(_ version: TLSVersion) throws {
        let good = try FixtureIdentity.certificates("good-chain.pem")
        let spelledOut = try Certificate.pem(Array(Self.spelledOutCurve.utf8))
        func outcome(_ others: [Certificate]) throws -> EnginePair {
            let identity = try TLSIdentity(
                certificate: good[0], intermediates: Array(good.dropFirst()) + others,
                privateKey: PrivateKey(pem: PKI.text("good.key"), password: nil))
            let pair = try EnginePair(
                .test(version),
                TLSServerConfiguration(identities: [TLSServerIdentity(identity, serverNames: ["good.test"])]))
            pair.runHandshakes()
            return pair
        }
        let limit = 64 - good.count
        for (others, isAccepted) in [
            ([], true), ([Certificate](repeating: good[0], count: limit), true),
            ([Certificate](repeating: good[0], count: limit + 1), false), (spelledOut, false),
        ] {
            let pair = try outcome(others)
            #expect(
                pair.clientIsDone == isAccepted,
                "\(others.count) \(pair.trustRequests.map(\.certificates.count))")
            if isAccepted { continue }
            guard case .protocolViolation? = pair.clientError else {
                Issue.record("\(String(describing: pair.clientError))")
                continue
            }
            #expect(pair.trustRequests.isEmpty)
        }
    }

    /// Checks the limit of distribution points that are named relative to their issuer: OpenSSL copies the issuer's name for each
    /// of them when it first examines the certificate's purposes.
    @Test(arguments: TLSVersion.tested)
    func relativeDistributionPointsAreLimited(_ version: TLSVersion) throws {
        let good = try FixtureIdentity.certificates("good-chain.pem")
        for (count, isAccepted) in [(1, true), (100, true), (1_000, false)] {
            let identity = try TLSIdentity(
                certificate: good[0],
                intermediates: Array(good.dropFirst()) + [ChainMaker.relativePoints(count)],
                privateKey: PrivateKey(pem: PKI.text("good.key"), password: nil))
            let pair = try EnginePair(
                .test(version),
                TLSServerConfiguration(identities: [TLSServerIdentity(identity, serverNames: ["good.test"])]))
            pair.runHandshakes()
            #expect(pair.clientIsDone == isAccepted, "\(count)")
            if isAccepted { continue }
            guard case .untrusted(.invalidChain("CN=relative", 45, _))? = pair.clientError else {
                Issue.record("\(String(describing: pair.clientError))")
                continue
            }
            #expect(pair.trustRequests.isEmpty)
        }
    }

    @Test(arguments: [
        ("06072A8648CE3D0101", 1), ("06072A8648CE3D0102", 1), ("0681072A8648CE3D0101", 1),
        ("00112A8648CE3D0101FF", 1), ("06072A8648CE3D0201", 0), ("06082A8648CE3D030107", 0),
        ("2A8648CE3D01", 0), ("2A8648CE3D0103", 0), ("", 0),
    ])
    func spelledOutCurvesAreFoundInAnyForm(_ hexadecimal: String, _ expected: Int32) throws {
        let octets = stride(from: 0, to: hexadecimal.count, by: 2).compactMap { index in
            UInt8(hexadecimal.dropFirst(index).prefix(2), radix: 16)
        }
        #expect(unsafe lupine_has_explicit_curve(octets, octets.count) == expected)
    }

    /// A certificate whose key has explicit parameters of P-256: `openssl ecparam -name prime256v1 -param_enc explicit -genkey`.
    private static let spelledOutCurve = """
        -----BEGIN CERTIFICATE-----
        MIICcDCCAhegAwIBAgIUQdTqH0CGkoCwZrAXUUpebO1st5wwCgYIKoZIzj0EAwIw
        EzERMA8GA1UEAwwIZXhwbGljaXQwIBcNMjYxMTI1MjAxMjM5WhgPMjA4MTA4Mjgy
        MDEyMzlaMBMxETAPBgNVBAMMCGV4cGxpY2l0MIIBSzCCAQMGByqGSM49AgEwgfcC
        AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
        MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
        vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
        axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
        K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
        YyVRAgEBA0IABOsPr5FzMuAXYXPd2fONuissJ/c1oC38mK919NQZCtUqVZkbIvNA
        SN94zZtZsvCws4ZB+fEHk7qDksyjEsclYiCjUzBRMB0GA1UdDgQWBBRR2FZURXZk
        rTyXQB2HYg45gUBeWjAfBgNVHSMEGDAWgBRR2FZURXZkrTyXQB2HYg45gUBeWjAP
        BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIDWRFo+JME65Q3UEVFq1
        DlP4oq74j6Su05hn1EK65FrmAiBoHJfPyLDvvZYt6kISv8ve6EtKVozjDGr1DxxK
        +cM39g==
        -----END CERTIFICATE-----
        """

    @Test(arguments: TLSVersion.tested)
    func noCommonCipher(_ version: TLSVersion) throws {
        var client = TLSConfiguration.test(version)
        client.cipherList = "ECDHE-RSA-AES128-GCM-SHA256"
        client.cipherSuites = "TLS_AES_128_GCM_SHA256"
        var server = try TLSServerConfiguration.test()
        server.cipherList = "ECDHE-RSA-AES256-GCM-SHA384"
        server.cipherSuites = "TLS_AES_256_GCM_SHA384"
        let pair = try EnginePair(client, server)
        pair.runHandshakes()
        #expect(pair.clientError == .cipherNotShared)
        #expect(pair.serverError == .cipherNotShared)
    }

    @Test(arguments: TLSVersion.tested)
    func theConfiguredCipherIsUsed(_ version: TLSVersion) throws {
        var client = TLSConfiguration.test(version)
        client.cipherList = "ECDHE-RSA-CHACHA20-POLY1305:!RC4"
        client.cipherSuites = "TLS_CHACHA20_POLY1305_SHA256"
        client.groups = "P-384"
        let pair = try EnginePair(client, try .test("rsa"), host: "rsa.test")
        pair.runHandshakes()
        try #require(pair.clientIsDone)
        let info = pair.client.info
        #expect(info.version == version)
        #expect(
            info.cipherSuite
                == (version == .v1_3
                    ? "TLS_CHACHA20_POLY1305_SHA256" : "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"))
        #expect(info.cipherSuiteNumber == (version == .v1_3 ? 0x1303 : 0xCCA8))
    }

    @Test(arguments: TLSVersion.tested)
    func applicationProtocols(_ version: TLSVersion) throws {
        var client = TLSConfiguration.test(version)
        var server = try TLSServerConfiguration.test()
        client.applicationProtocols = ["h2", "http/1.1"]
        server.applicationProtocols = ["http/1.1", "h2"]
        let agreed = try EnginePair(client, server)
        agreed.runHandshakes()
        #expect(agreed.client.info.applicationProtocol == "http/1.1")
        #expect(agreed.server.info.applicationProtocol == "http/1.1")

        server.applicationProtocols = ["smtp"]
        let disjoint = try EnginePair(client, server)
        disjoint.runHandshakes()
        #expect(disjoint.clientError == .alert(.noApplicationProtocol))

        server.applicationProtocols = []
        let withoutAnswer = try EnginePair(client, server)
        withoutAnswer.runHandshakes()
        #expect(withoutAnswer.clientIsDone && withoutAnswer.client.info.applicationProtocol == nil)

        client.applicationProtocols = []
        let withoutOffer = try EnginePair(client, try .test())
        withoutOffer.runHandshakes()
        #expect(withoutOffer.clientIsDone && withoutOffer.client.info.applicationProtocol == nil)
    }

    @Test(arguments: TLSVersion.tested)
    func aProtocolThatWasNotOfferedIsRefused(_ version: TLSVersion) throws {
        var server = try TLSServerConfiguration.test()
        server.applicationProtocols = ["h2"]
        var client = TLSConfiguration.test(version)
        client.applicationProtocols = ["http/1.1"]
        let pair = try EnginePair(client, server)
        // The ClientHello offers a protocol that the configuration does not contain.
        let other: [UInt8] = [2] + Array("h2".utf8)
        unsafe _ = SSL_set_alpn_protos(pair.client.connection, other, UInt32(other.count))
        pair.runHandshakes()
        #expect(pair.clientError == .protocolNotOffered("h2"))
    }

    /// The name of the host, the server name that the server receives, and the fixture of the certificate that it presents.
    static let names: [(host: String, serverName: String?, certificate: String)] = [
        ("first.test", "first.test", "first"),
        ("SECOND.test", "SECOND.test", "second"),
        ("second.test.", "second.test", "second"),
        ("any.wild.test", "any.wild.test", "wildcard"),
        ("a.b.wild.test", "a.b.wild.test", "good"),
        ("unknown.test", "unknown.test", "good"),
        ("127.0.0.1", nil, "good"),
        ("::1", nil, "good"),
        ("[::1]", nil, "good"),
    ]

    @Test(arguments: TLSVersion.tested, names.indices)
    func theNameChoosesTheCertificate(_ version: TLSVersion, _ row: Int) throws {
        let (host, serverName, certificate) = Self.names[row]
        var server = try TLSServerConfiguration.test("good", "first", "second", "wildcard")
        server.identities[3].serverNames = ["*.wild.test"]
        let pair = try EnginePair(.test(version), server, host: host)
        pair.runHandshakes()
        try #require(pair.clientIsDone && pair.serverIsDone)
        #expect(pair.server.info.serverName == serverName)
        let expected = try FixtureIdentity.certificates("\(certificate)-chain.pem").map(FixtureIdentity.der)
        #expect(pair.trustRequests.first?.certificates.map(FixtureIdentity.der) == expected)
    }

    @Test(arguments: ["", "a b.test", "a\u{0}.test", "bücher.test", "a\nb"])
    func malformedHostsAreRefused(_ host: String) throws {
        #expect(throws: TLSError.configuration(.host(host))) { _ = try EnginePair(host: host) }
    }

    static let alerts: [(TLSAlert, TLSError)] = [
        (.handshakeFailure, .cipherNotShared),
        (.insufficientSecurity, .cipherNotShared),
        (.protocolVersion, .versionNotShared),
        (.certificateRequired, .clientCertificateRequired),
        (.internalError, .alert(.internalError)),
        (.accessDenied, .alert(.accessDenied)),
        (.unrecognizedName, .alert(.unrecognizedName)),
        (.badCertificate, .alert(.badCertificate)),
        (.userCanceled, .alert(.userCanceled)),
    ]

    @Test(arguments: alerts.indices)
    func alertsInResponseToTheClientHello(_ row: Int) throws {
        let (alert, error) = Self.alerts[row]
        let pair = try EnginePair()
        _ = try pair.client.handshake()
        pair.toClient.put([21, 3, 3, 0, 2, 2, alert.rawValue])
        #expect(throws: error) { _ = try pair.client.handshake() }
        #expect(pair.trustRequests.isEmpty)
    }

    @Test func aCloseNotifyInsteadOfAServerHello() throws {
        let pair = try EnginePair()
        _ = try pair.client.handshake()
        pair.toClient.put([21, 3, 3, 0, 2, 1, TLSAlert.closeNotify.rawValue])
        #expect(throws: TLSError.closedInHandshake) { _ = try pair.client.handshake() }
    }

    @Test(arguments: [TLSAlert.internalError, .accessDenied, .unrecognizedName])
    func aServerCanRefuseEveryClient(_ alert: TLSAlert) throws {
        var server = try TLSServerConfiguration.test()
        server.refusalAlert = alert
        let pair = try EnginePair(.test, server)
        pair.runHandshakes()
        #expect(pair.clientError == .alert(alert))
        #expect(pair.serverError != nil)
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.test ESMTP\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
    ])
    func peersWithoutTLS(_ text: String) throws {
        for piece in [1, Int.max] {
            let manner = WireManner(description: "", piece: piece)
            let pair = try EnginePair(manner: manner)
            pair.toClient.put(Array(text.utf8))
            var error: TLSError?
            for _ in 0..<100 where error == nil {
                do throws(TLSError) { _ = try pair.client.handshake() } catch let caught { error = caught }
            }
            #expect(error == .notTLS)
        }
    }

    @Test func errorDescriptionsAreUnique() {
        let errors: [TLSError] = [
            .configuration(.noIdentity), .untrusted(.noPins), .alert(.decodeError),
            .clientCertificateRequired,
            .clientCertificateRejected(.unknownCA), .versionNotShared, .cipherNotShared, .notTLS, .truncated,
            .closedInHandshake, .renegotiation, .wireFailed, .protocolNotOffered("h2"), .http2NotChosen(nil),
            .http2NotChosen("http/1.1"),
            .onlyControlMessages(bytes: 7), .tooManyMessages(count: 7), .answersNotRead(bytes: 7),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect("\(TLSError.alert(.handshakeFailure))" == "the peer gave up with the alert handshake_failure")
        #expect(TLSAlert(rawValue: 200).description == "alert 200")
    }

    /// Checks that HelloRequests before the ServerHello are ignored, but only up to a limit.
    @Test func manyHelloRequestsEndTheHandshake() throws {
        let pair = try EnginePair(.test(.v1_2))
        pair.stepClient()
        let helloRequest: [UInt8] = [22, 3, 3, 0, 4, 0, 0, 0, 0]
        for _ in 0..<40_000 { pair.toClient.put(helloRequest) }
        for _ in 0..<3 { pair.stepClient() }
        guard case .onlyControlMessages? = pair.clientError else {
            Issue.record("\(String(describing: pair.clientError))")
            return
        }
    }

    /// Checks the limit of the computation that a server can demand before the owner has accepted it.
    @Test(
        "[H-14.5] the length of a Diffie-Hellman group is limited",
        arguments: [("ffdhe4096", nil), ("ffdhe6144", 6144)])
    func groupsAreLimited(_ group: String, _ refused: Int32?) throws {
        var client = TLSConfiguration.test(.v1_2)
        client.cipherList = "DHE-RSA-AES128-GCM-SHA256"
        var server = try TLSServerConfiguration.test("rsa")
        server.cipherList = client.cipherList
        let pair = try EnginePair(client, server)
        let generator = unsafe EVP_PKEY_CTX_new_from_name(nil, "DH", nil)
        defer { unsafe EVP_PKEY_CTX_free(generator) }
        try #require(unsafe EVP_PKEY_paramgen_init(generator) == 1)
        try #require(unsafe EVP_PKEY_CTX_set_group_name(generator, group) == 1)
        var parameters: OpaquePointer?
        try #require(unsafe EVP_PKEY_paramgen(generator, &parameters) == 1)
        try #require(unsafe SSL_set0_tmp_dh_pkey(pair.server.connection, parameters) == 1)
        pair.runHandshakes()
        guard let refused else {
            #expect(pair.clientIsDone && pair.serverIsDone)
            return
        }
        guard case .protocolViolation(let failure)? = pair.clientError else {
            Issue.record("\(String(describing: pair.clientError))")
            return
        }
        #expect(failure.description.contains("\(refused) bits"))
        #expect(pair.trustRequests.isEmpty)
    }
}
