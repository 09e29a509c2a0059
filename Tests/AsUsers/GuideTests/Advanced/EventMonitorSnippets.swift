// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import Testing

/// The logger of the guides.
@Suite struct EventMonitorSnippets {
    final class Logger: EventMonitor {
        let queue = DispatchQueue(label: "org.example.logger")
        let lines: AsyncStream<String>.Continuation

        init(lines: AsyncStream<String>.Continuation) { self.lines = lines }

        // Event called when any type of Request is resumed.
        func requestDidResume(_ request: Request) {
            print("Resuming: \(request)")
            lines.yield("Resuming: \(request)")
        }

        // Event called whenever a DataRequest has parsed a response.
        func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
            debugPrint("Finished: \(response)")
            lines.yield("Finished: \(response)")
            lines.finish()
        }
    }

    @Test func aMonitorLogs() async throws {
        let (lines, line) = AsyncStream.makeStream(of: String.self)
        let logger = Logger(lines: line)
        let session = Session(eventMonitors: [logger])

        try await HTTPBin.serve { httpbin in
            _ = try await session.request("\(httpbin)/bytes/4").serializingData().value
            var all: [String] = []
            for await next in lines { all.append(next) }
            #expect(all.count == 2)
            #expect(all.first?.hasPrefix("Resuming: ") == true)
            #expect(all.last == "Finished: success(4 bytes)")
        }
    }
}
