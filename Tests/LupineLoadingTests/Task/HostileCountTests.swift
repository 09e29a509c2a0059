// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Lengths that a server announces, which must cause no arithmetic overflow.
struct HostileCountTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The number of bytes that are sent.
        var sent = 10
        /// The announced length.
        let length: Int64
        /// The expected total of the progress before the task ends; -1 if it is unknown.
        let total: Int64
    }

    static let rows = [
        Row(testDescription: "more than Int64.max, together with the sent bytes", length: .max, total: -1),
        Row(testDescription: "Int64.max + 1", length: .max - 9, total: -1),
        Row(testDescription: "Int64.max", length: .max - 10, total: .max),
        Row(testDescription: "Int64.max, without content", sent: 0, length: .max, total: .max),
        Row(testDescription: "nothing", sent: 0, length: 0, total: 0),
    ]

    @Test(
        "[U-6.8] a progress whose total overflows is indeterminate, also as a child",
        arguments: rows, [false, true])
    func announced(_ row: Row, isPart: Bool) async throws {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let task = session.uploadTask(with: URLRequest(url: someURL()), from: Data(count: row.sent))
        let whole = Progress(totalUnitCount: 3)
        if isPart { whole.addChild(task.progress, withPendingUnitCount: 1) }
        #expect(task.progress.isIndeterminate)
        task.resume()
        let load = await loads.load()
        load.client.driverSent(total: Int64(row.sent), expected: Int64(row.sent))
        load.respond(["Content-Length": "\(row.length)"])
        #expect(task.progress.totalUnitCount == row.total)
        #expect(row.total >= 0 || task.progress.isIndeterminate)
        if row.length > 0 { load.send("abc") }
        #expect(task.progress.completedUnitCount == Int64(row.sent) + min(row.length, 3))
        // In another attempt the total becomes unknown, and then a different one.
        load.client.driverSent(total: 0, expected: -1)
        #expect(task.progress.totalUnitCount == -1)
        load.client.driverSent(total: 4, expected: 4)
        load.respond(["Content-Length": "0"])
        #expect(task.progress.totalUnitCount == 4)
        load.end()
        session.invalidateAndCancel()
    }

    @Test(
        "[U-6.8] a server that announces the greatest length does not trap the uploading program",
        arguments: TestedHTTP.allCases)
    func wholeStack(over testedHTTP: TestedHTTP) async throws {
        let plan = ScriptPlan(
            .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc"), .close)
        try await withStage(plan, over: testedHTTP) { stage in
            var request = URLRequest(url: try stage.url("/"))
            request.httpMethod = "POST"
            let (ends, end) = AsyncStream<URLError.Code?>.makeStream()
            let task = stage.session.uploadTask(with: request, from: Data("0123456789".utf8)) { _, _, error in
                end.yield((error as? URLError)?.code)
                end.finish()
            }
            let progress = task.progress
            task.resume()
            for await code in ends { #expect(code == .dataLengthExceedsMaximum) }
            #expect(progress.totalUnitCount == progress.completedUnitCount)
            #expect(progress.totalUnitCount < 1 << 20)
        }
    }
}
