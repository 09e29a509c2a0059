// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

/// Where a task tells a delegate that may be told anywhere.
struct TurnPlacesTests {
    private final class Notes: NSObject, URLSessionDataDelegate {
        let told: AsyncStream<Bool>.Continuation

        init(_ told: AsyncStream<Bool>.Continuation) { self.told = told }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            told.yield(EventLoop.current != nil)
        }
    }

    @Test("[O-8] a task whose delegate calls code of the program's by now tells it on the delegate queue")
    func backToTheQueue() async throws {
        let origin = try LupineOrigin.Origin.start()
        origin.script(
            "GET", "/two",
            ScriptPlan(
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .waitForSignal("go"), .send("b"),
                .close))
        let (places, told) = AsyncStream.makeStream(of: Bool.self)
        let session = URLSession(
            configuration: DriverLoad.configuration(), delegate: Notes(told), delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: origin.url + "/two")))
        // The delegate is told of the new task on its queue: that is over before anything comes from a loop.
        await withCheckedContinuation { over in session.delegateQueue.addOperation { over.resume() } }
        task.takeTurnsAnywhere()
        task.resume()
        var onLoop = places.makeAsyncIterator()
        #expect(await onLoop.next() == true)
        task.takeTurnsOnQueue()
        origin.gate("go").open()
        #expect(await onLoop.next() == false)
        session.invalidateAndCancel()
        await origin.shutdown()
    }
}
