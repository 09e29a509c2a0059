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

    static func run(on stage: DemoStage) async throws {
        let right = stage.certificate.publicKey?.pin.description ?? ""
        let accepted = try await ask(stage, pin: right)
        let version = accepted.metrics?.transactionMetrics.last?.negotiatedTLSProtocolVersion
        stage.tell(
            "pinned to its key: status \(accepted.response?.statusCode ?? 0), \(version.map { "\($0)" } ?? "no TLS")"
        )
        let requests = stage.secureRequests
        let refused = try await ask(stage, pin: "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        stage.tell("pinned to another: \(refused.error?.pinningReport.map { "\($0)" } ?? "no error")")
        try stage.require(
            accepted.response?.statusCode == 200 && refused.error?.pinningReport != nil
                && stage.secureRequests == requests,
            "the right key is trusted, the wrong one hears of no request")
    }

    private static func ask(_ stage: DemoStage, pin: String) async throws -> AFDataResponse<String> {
        let secureRoot = stage.secureRoot
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.tls.roots = .certificates([stage.certificate])
        let trust = ServerTrustManager(evaluators: ["127.0.0.1": try .publicKeyPins([pin])])
        let pinned = Session(configuration: configuration, serverTrustManager: trust)
        let response = await pinned.request("\(secureRoot)/tls").serializingString().response
        return response
    }
}
