// SPDX-License-Identifier: MIT

import Lupine

/// The content is received compressed and delivered decoded.
enum CodingAct: DemoAct {
    static let title = "gzip and br"
    static let code = """
        let gzip = await session.request("\\(root)/gzip").serializingString().response
        let brotli = await session.request("\\(root)/brotli").serializingString().response
        """

    static func run(on stage: DemoStage) async throws {
        let (session, root) = (stage.session, stage.root)
        let gzip = await session.request("\(root)/gzip").serializingString().response
        let brotli = await session.request("\(root)/brotli").serializingString().response
        for response in [gzip, brotli] {
            let coding = response.response?.value(forHTTPHeaderField: "Content-Encoding") ?? "nothing"
            let transaction = response.metrics?.transactionMetrics.last
            stage.tell(
                "\(coding): \(transaction?.countOfResponseBodyBytesReceived ?? 0) bytes came, \(response.value?.utf8.count ?? 0) were handed over"
            )
            try stage.require(response.value?.contains("headers") == true, "\(coding) is undone")
        }
    }
}
