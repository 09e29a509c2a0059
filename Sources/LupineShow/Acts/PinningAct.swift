// SPDX-License-Identifier: MIT

import Lupine
import LupineTLS
import LupineTransport

/// Only the server with the pinned key is trusted; no request is sent to the other.
enum PinningAct: DemoAct {
    static let title = "Pinning, accepted and refused"
    static let code = """
        let trust = ServerTrustManager(evaluators: ["127.0.0.1": try .publicKeyPins([pin])])
        let pinned = Session(configuration: configuration, serverTrustManager: trust)
        let response = await pinned.request("\\(secureRoot)/tls").serializingString().response
        """

    static func run(in demo: DemoContext) async throws {
        let pin = demo.certificate.publicKey?.pin.description ?? ""
        let accepted = try await request(demo, pin: pin)
        let version = accepted.metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion
        demo.printResult(
            "pinned to its key: status \(accepted.response?.statusCode ?? 0), \(version.map { "\($0)" } ?? "no TLS")"
        )
        let requests = demo.secureRequests
        let refused = try await request(demo, pin: "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        demo.printResult("pinned to another: \(refused.error?.pinningReport.map { "\($0)" } ?? "no error")")
        try demo.require(
            accepted.response?.statusCode == 200 && refused.error?.pinningReport != nil
                && demo.secureRequests == requests,
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
