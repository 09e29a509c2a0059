// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// A body that two tasks try to read.
@Suite struct SharedBodyTests {
    @Test(arguments: TestedHTTP.allCases) func theSecondReaderIsRefusedAndTheFirstContinues(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .waitForSignal("go"),
            .send("ok"), .stall)
        try await withStack(plan, over: testedHTTP) { client, origin in
            let body = try await client.get(origin.url + "/").body
            await withTaskGroup(of: Result<[UInt8], TransportError>.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do throws(TransportError) {
                            return .success(try await body.collect())
                        } catch { return .failure(error) }
                    }
                }
                #expect(
                    await group.next()
                        == .failure(.unsupported("a body is read by one task at a time")))
                origin.gate("go").open()
                #expect(await group.next() == .success(Array("ok".utf8)))
            }
        }
    }
}
