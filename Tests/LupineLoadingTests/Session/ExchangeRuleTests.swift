// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of the rules of one exchange, and of the state that it leaves behind, through a session.
@Suite(.timeLimit(.minutes(10)))
struct ExchangeRuleTests {
    @Test(
        "[U-16.2] a status is never an error", arguments: [400, 403, 404, 416, 500, 503, 599],
        TestedHTTP.allCases
    )
    func statuses(_ status: Int, over testedHTTP: TestedHTTP) async throws {
        try await withStage(
            ScriptPlan(.expectHead, .reply("sorry", status: "\(status) No"), .stall), over: testedHTTP
        ) {
            let end = try await $0.get()
            #expect(end.status == status && end.text == "sorry" && end.code == nil)
        }
    }

    @Test(
        "[U-1.6] properties of a request survive copies, bridging, tasks and loads",
        arguments: TestedHTTP.allCases)
    func attachedProperties(over testedHTTP: TestedHTTP) async throws {
        try await withStage(over: testedHTTP) { stage in
            let attached = NSMutableURLRequest(url: try stage.url("/bytes/3"))
            URLProtocol.setProperty("value", forKey: "key", in: attached)
            var request = attached as URLRequest
            request.setValue("1", forHTTPHeaderField: "X-Copied")
            let bridged = (request as NSURLRequest) as URLRequest
            #expect(URLProtocol.property(forKey: "key", in: bridged) as? String == "value")
            let task = stage.session.dataTask(with: bridged)
            let delegate = RecordingDelegate()
            task.delegate = delegate
            task.resume()
            await delegate.log.wait(for: "complete nil")
            for seen in [task.originalRequest, task.currentRequest] {
                let seen = try #require(seen)
                #expect(URLProtocol.property(forKey: "key", in: seen) as? String == "value")
                #expect(seen.value(forHTTPHeaderField: "X-Copied") == "1")
            }
        }
    }

    @Test(
        "[U-7.14] uploads have no resume data, and resume from none",
        arguments: [false, true], TestedHTTP.allCases)
    func uploadsStartAnew(_ hasHandler: Bool, over testedHTTP: TestedHTTP) async throws {
        let delegate = RecordingDelegate()
        try await withStage(delegate: delegate, over: testedHTTP) { stage in
            let ended = Gate()
            let task =
                hasHandler
                ? stage.session.uploadTask(withResumeData: Data("none".utf8)) { data, response, error in
                    #expect(data == nil && response == nil)
                    #expect((error as? URLError)?.code == .unsupportedURL)
                    ended.open()
                } : stage.session.uploadTask(withResumeData: Data("none".utf8))
            #expect(task.originalRequest == nil && task.currentRequest == nil)
            task.resume()
            if hasHandler {
                await ended.wait()
            } else {
                await delegate.log.wait(for: "complete \(URLError.Code.unsupportedURL.rawValue)")
            }
        }
    }

    // MARK: reuse

    struct Reuse: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let wire: String
        let isReused: Bool
    }

    static let reuses = [
        Reuse(
            testDescription: "[U-9.13] HTTP/1.1", wire: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            isReused: true),
        Reuse(
            testDescription: "[U-9.13] Connection: close",
            wire: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", isReused: false),
        Reuse(
            testDescription: "[U-9.13] HTTP/1.0", wire: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            isReused: false),
        Reuse(
            testDescription: "[U-9.13] HTTP/1.0 with keep-alive",
            wire: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", isReused: true),
        Reuse(
            testDescription: "[U-9.8] chunks and a length",
            wire:
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            isReused: false),
    ]

    @Test(arguments: reuses) func reuse(_ row: Reuse) async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .send(row.wire), .expectHead, .reply("second"), .stall]),
            Script([.expectHead, .reply("second"), .stall]),
        ])
        try await withStage(plan) { stage async throws in
            #expect(try await stage.get().text == "ok")
            #expect(try await stage.get().text == "second")
            #expect(stage.origin.counts.connectionsAccepted == (row.isReused ? 1 : 2))
        }
    }

    @Test(
        "[U-9.16] addresses are tried until one connects; if none does, the last error is reported",
        arguments: TestedHTTP.allCases)
    func addresses(over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        // The origin listens on 127.0.0.1 alone.
        let unusedAddress = try #require(SocketAddress(literal: "127.0.0.9", port: origin.port))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.addressOverrides = [
            .init(host: "some.test", port: origin.port): [unusedAddress, origin.address],
            .init(host: "none.test", port: origin.port): [unusedAddress, unusedAddress],
        ]
        try await withStage(configuration: configuration, over: testedHTTP) { stage in
            let some = try #require(URL(string: "http://some.test:\(origin.port)/status/204"))
            #expect(await stage.load(URLRequest(url: some)).status == 204)
            let none = try #require(URL(string: "http://none.test:\(origin.port)/"))
            #expect(await stage.load(URLRequest(url: none)).code == .cannotConnectToHost)
        }
        await origin.shutdown()
    }

    // MARK: redirects

    /// A delegate that answers a redirect, and opens a gate of the origin when its redirect method is called.
    private final class Redirected: NSObject, URLSessionDataDelegate {
        let log = CallLog()
        private let follows: Bool
        private let gate: Lock<Gate?>

        init(follows: Bool) {
            self.follows = follows
            gate = Lock(nil)
        }

        func openWhenCalled(_ gate: Gate) { self.gate.withLock { $0 = gate } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
            completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            log.add("asked")
            self.gate.withLock { $0 }?.open()
            completionHandler(follows ? request : nil)
        }
    }

    @Test(
        "[U-10.9] the delegate is called for a redirect before its body arrives, which is delivered unless it is followed",
        arguments: TestedHTTP.allCases)
    func aRedirectsBody(over testedHTTP: TestedHTTP) async throws {
        let body = String(repeating: "moved ", count: 100_000)
        for follows in [false, true] {
            let head = "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            let plan = ScriptPlan([
                Script([.expectHead, .send(head), .waitForSignal("asked"), .send(body), .stall]),
                Script([.expectHead, .reply("there"), .stall]),
            ])
            let delegate = Redirected(follows: follows)
            try await withStage(plan, delegate: delegate, over: testedHTTP) { stage in
                delegate.openWhenCalled(stage.origin.gate("asked"))
                let end = try await stage.get()
                #expect(end.status == (follows ? 200 : 302))
                #expect(end.text == (follows ? "there" : body))
                #expect(delegate.log.entries == ["asked"])
            }
        }
    }
}
