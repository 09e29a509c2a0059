// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Synchronization
import Testing

/// The snippets of `Events.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct EventSnippets {
    @Test func logging() async throws {
        try await API.serve { api in
            let (lines, line) = AsyncStream.makeStream(of: String.self)
            let monitor = LoggingEventMonitor { text in
                print(text)
                line.yield(text)  // not on the page
            }
            let session = Session(eventMonitors: [monitor])
            let headers: HTTPHeaders = [.authorization(bearerToken: "secret")]
            _ = await session.request("\(api)/get", headers: headers).serializingData().response
            var seen: [String] = []
            for await text in lines {
                seen.append(text)
                if text.contains("finish") || seen.count > 100 { break }
            }
            #expect(!seen.joined().contains("secret"))
        }
    }
    /// Tells how long each task took.
    final class Stopwatch: EventMonitor {
        let queue = DispatchQueue(label: "org.example.stopwatch")
        let tell: @Sendable (String, TimeInterval) -> Void

        init(tell: @escaping @Sendable (String, TimeInterval) -> Void) { self.tell = tell }

        func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
            tell(request.request?.url?.path() ?? "", metrics.taskInterval.duration)
        }
    }

    @Test func anOwnMonitor() async throws {
        try await API.serve { api in
            let (paths, path) = AsyncStream.makeStream(of: String.self)
            let stopwatch = Stopwatch { name, seconds in
                print(name, seconds)
                path.yield(name)  // not on the page
            }
            let session = Session(eventMonitors: [stopwatch, AlamofireNotifications()])
            _ = await session.request("\(api)/get").serializingData().response
            var iterator = paths.makeAsyncIterator()
            #expect(await iterator.next() == "/get")
        }
    }

    @Test func closures() async throws {
        try await API.serve { api in
            let (statuses, status) = AsyncStream.makeStream(of: Int.self)
            let monitor = ClosureEventMonitor()
            monitor.dataTaskDidReceiveResponse = { _, _, response in
                print(response.mimeType ?? "")
                status.yield((response as? HTTPURLResponse)?.statusCode ?? 0)  // not on the page
            }
            let session = Session(eventMonitors: [monitor])
            _ = await session.request("\(api)/status/418").serializingData().response
            var iterator = statuses.makeAsyncIterator()
            #expect(await iterator.next() == 418)
        }
    }
}
