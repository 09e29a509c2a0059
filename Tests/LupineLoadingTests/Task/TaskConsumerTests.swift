// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Data tasks whose content and end go to a consumer in place of the delegate.
struct TaskConsumerTests {
    /// A consumer that records what it gets.
    private final class Consumer: TaskConsumer {
        let events = LockedValue<[String]>([])
        let ended = Gate()
        let isAlone = LockedValue(true)
        let limit: Int

        init(limit: Int = .max) { self.limit = limit }

        var isOnlyListener: Bool { isAlone.value }

        func receive(_ data: Data, of total: Int64, upTo limit: CollectedBodyLimit) -> Bool {
            events.update { $0.append("\(data.count) of \(total)") }
            return data.count <= self.limit
        }

        func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
            let code = (error as? URLError).map { " \($0.code.rawValue)" } ?? ""
            events.update { $0.append("end\(code), \(metrics.transactionMetrics.count)") }
            ended.open()
        }
    }

    /// A delegate that records what it gets.
    private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
        let events = LockedValue<[String]>([])
        let ended = Gate()

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            events.update { $0.append("response") }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            events.update { $0.append("\(data.count)") }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) { events.update { $0.append("metrics") } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            events.update { $0.append("end") }
            ended.open()
        }
    }

    /// Runs `body` with a task that has not been resumed.
    private func withTask(
        _ path: String, _ consumer: Consumer, limit: Int = 1 << 20, own: Listener? = nil,
        _ body: (URLSessionDataTask, Listener, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        let origin = try LupineOrigin.Origin.start()
        let listener = Listener()
        // A delegate that is called for the proposed cached response also gets the end.
        let configuration = DriverLoad.configuration { $0.urlCache = nil }
        let session = URLSession(configuration: configuration, delegate: listener, delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: origin.url + path)))
        task.delegate = own
        task.collectContent(for: consumer, upTo: CollectedBodyLimit(bytes: limit))
        #expect(task.consumer === consumer)
        // The delegate is called for the creation of the task. If that call waited, the delegate would get the end, too.
        await withCheckedContinuation { idle in session.delegateQueue.addOperation { idle.resume() } }
        try await body(task, listener, origin)
        session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test("a sole consumer gets the content and the end, and the delegate nothing")
    func alone() async throws {
        let consumer = Consumer()
        try await withTask("/bytes/300", consumer) { task, listener, _ in
            task.resume()
            await consumer.ended.wait()
            #expect(consumer.events.value == ["300 of 300", "end, 1"])
            #expect(task.state == .completed && task.error == nil && listener.events.value == [])
            while task.consumer != nil { await Task.yield() }
        }
    }

    @Test("a delegate that wants to be called gets everything from the response on")
    func notAlone() async throws {
        let consumer = Consumer()
        consumer.isAlone.update { $0 = false }
        try await withTask("/bytes/300", consumer) { task, listener, _ in
            task.resume()
            await listener.ended.wait()
            #expect(listener.events.value == ["response", "300", "metrics", "end"])
            #expect(consumer.events.value == [])
        }
    }

    @Test(
        "a delegate that wants to be called later gets the remaining calls, and a consumer that becomes the only one gets no more"
    )
    func notAloneAnyMore() async throws {
        let consumer = Consumer()
        try await withTask("/held", consumer) { task, listener, origin in
            origin.script(
                "GET", "/held",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), .waitForSignal("go"),
                    .send("cde"),
                    .close))
            task.resume()
            while consumer.events.value != ["2 of 5"] { await Task.yield() }
            consumer.isAlone.update { $0 = false }
            origin.gate("go").open()
            while listener.events.value.first != "3" { await Task.yield() }
            consumer.isAlone.update { $0 = true }
            await listener.ended.wait()
            #expect(listener.events.value == ["3", "metrics", "end"] && consumer.events.value == ["2 of 5"])
        }
    }

    @Test("the task's own delegate is called, even if the consumer declares itself the only one")
    func ownDelegate() async throws {
        let (consumer, own) = (Consumer(), Listener())
        try await withTask("/bytes/300", consumer, own: own) { task, listener, _ in
            task.resume()
            await own.ended.wait()
            #expect(own.events.value == ["response", "300", "metrics", "end"] && consumer.events.value == [])
        }
    }

    @Test("[U-7.16] content over the limit fails the task")
    func tooLong() async throws {
        let consumer = Consumer(limit: 100)
        try await withTask("/stream-bytes/300", consumer) { task, listener, _ in
            task.resume()
            await consumer.ended.wait()
            let code = URLError.Code.dataLengthExceedsMaximum.rawValue
            #expect(consumer.events.value.last?.hasPrefix("end \(code)") == true)
            #expect((task.error as? URLError)?.code == .dataLengthExceedsMaximum)
            #expect(listener.events.value == [])
        }
    }

    @Test("a Content-Length over the limit is left to the delegate")
    func announcedAsTooLong() async throws {
        let consumer = Consumer()
        try await withTask("/bytes/300", consumer, limit: 200) { task, listener, _ in
            task.resume()
            await listener.ended.wait()
            #expect(listener.events.value == ["response", "300", "metrics", "end"])
            #expect(consumer.events.value == [])
        }
    }

    @Test("a cancelled task ends once, with the cancellation")
    func cancelled() async throws {
        let consumer = Consumer()
        try await withTask("/held", consumer) { task, listener, origin in
            origin.script("GET", "/held", ScriptPlan(.signal("asked"), .stall))
            task.resume()
            await origin.gate("asked").wait()
            task.cancel()
            await consumer.ended.wait()
            #expect(consumer.events.value.count == 1)
            #expect(consumer.events.value.first?.hasPrefix("end \(URLError.Code.cancelled.rawValue)") == true)
            #expect(listener.events.value == [])
        }
    }
}
