// SPDX-License-Identifier: MIT

import Lupine

/// The content is received compressed and delivered decoded.
enum CodingAct: DemoAct {
    static let title = "gzip and br"
    static let code = """
        let gzip = await session.request("\\(root)/gzip").serializingString().response
        let brotli = await session.request("\\(root)/brotli").serializingString().response
        """

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let gzip = await session.request("\(root)/gzip").serializingString().response
        let brotli = await session.request("\(root)/brotli").serializingString().response
        for response in [gzip, brotli] {
            let coding = response.response?.value(forHTTPHeaderField: "Content-Encoding") ?? "nothing"
            let transaction = response.metrics?.transactionMetrics.last
            demo.printResult(
                "\(coding): \(transaction?.countOfResponseBodyBytesReceived ?? 0) bytes came, \(response.value?.utf8.count ?? 0) were handed over"
            )
            // The decoded content is JSON with the member `headers`, the fields of the request.
            try demo.require(response.value?.contains("headers") == true, "\(coding) is undone")
        }
    }
}
