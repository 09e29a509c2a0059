// SPDX-License-Identifier: MIT

import Lupine
import LupineTLS
import LupineTransport

/// Only a server with the pinned key is trusted: with another pin, no request is sent.
enum PinningAct: DemoAct {
    static let title = "Pinning, accepted and refused"
    static let code = """
        let trust = ServerTrustManager(evaluators: ["127.0.0.1": try .publicKeyPins([pin])])
        let pinned = Session(configuration: configuration, serverTrustManager: trust)
        let response = await pinned.request("\\(secureRoot)/tls").serializingString().response
        """

    static func run(in demo: DemoContext) async throws {
        let pin = demo.certificate.publicKey?.pin.description ?? ""
        let acceptedResponse = try await request(demo, pin: pin)
        let version = acceptedResponse.metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion
        demo.printResult(
            "pinned to its key: status \(acceptedResponse.response?.statusCode ?? 0), \(version.map { "\($0)" } ?? "no TLS")"
        )
        let requestsBefore = demo.secureRequests
        // A well-formed pin, the hash of no key.
        let otherPin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        let refusedResponse = try await request(demo, pin: otherPin)
        let report = refusedResponse.error?.pinningReport
        demo.printResult("pinned to another: \(report.map { "\($0)" } ?? "no error")")
        let isAccepted = acceptedResponse.response?.statusCode == 200
        try demo.require(
            isAccepted && report != nil && demo.secureRequests == requestsBefore,
            "the right key is trusted, the wrong one hears of no request")
    }

    /// Sends a request to the second origin, whose key must have this pin.
    private static func request(_ demo: DemoContext, pin: String) async throws -> AFDataResponse<String> {
        let secureRoot = demo.secureRoot
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.tls.roots = .certificates([demo.certificate])
        let trust = ServerTrustManager(evaluators: ["127.0.0.1": try .publicKeyPins([pin])])
        let pinned = Session(configuration: configuration, serverTrustManager: trust)
        let response = await pinned.request("\(secureRoot)/tls").serializingString().response
        return response
    }
}
