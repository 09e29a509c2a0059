// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// WebSocket tasks against an origin on this machine, through all layers, over HTTP/1.1 and HTTP/2.
struct WebSocketTaskTests {
    private func withSession(
        _ testedHTTP: TestedHTTP = .http1, _ delegate: (any URLSessionDelegate)? = nil,
        compresses: Bool = false,
        _ body: (URLSession, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        if testedHTTP == .http2 { serving.http2 = HTTP2Behaviour() }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.waitPatiently()
        configuration.connectionProxyDictionary = [:]
        configuration.lupine.httpVersions = testedHTTP.versions
        configuration.lupine.offersWebSocketCompression = compresses
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session, origin)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    private func socket(
        _ session: URLSession, _ origin: LupineOrigin.Origin, _ query: String = "", protocols: [String] = []
    ) throws -> URLSessionWebSocketTask {
        let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/websocket\(query)"))
        let task = session.webSocketTask(with: url, protocols: protocols)
        task.resume()
        return task
    }

    private func text(_ message: URLSessionWebSocketTask.Message) -> String? {
        if case .string(let text) = message { text } else { nil }
    }

    @Test("[U-8.1, U-8.4] text and data are echoed unchanged", arguments: [false, true], TestedHTTP.allCases)
    func echo(_ compresses: Bool, _ testedHTTP: TestedHTTP) async throws {
        try await withSession(testedHTTP, compresses: compresses) { session, origin in
            let task = try socket(session, origin, "?deflate=1")
            for size in [0, 1, 125, 126, 65_535, 65_536, 300_000] {
                let sent = String(repeating: "é", count: size / 2)
                try await task.send(.string(sent))
                #expect(text(try await task.receive()) == sent, "\(size)")
                let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
                try await task.send(.data(data))
                guard case .data(data) = try await task.receive() else {
                    Issue.record("\(size) bytes did not come back")
                    return
                }
            }
            let response = try #require(task.response as? HTTPURLResponse)
            let agreed = response.value(forHTTPHeaderField: "Sec-WebSocket-Extensions") != nil
            #expect(response.statusCode == testedHTTP.switched && agreed == compresses)
            task.cancel()
        }
    }

    @Test("16 MiB in fragments are received whole", arguments: TestedHTTP.allCases) func large(
        _ testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withSession(testedHTTP) { session, origin in
            let task = try socket(session, origin, "?fragment=1000000")
            task.maximumMessageSize = 16 << 20
            let data = Data(repeating: 0x5A, count: 16 << 20)
            try await task.send(.data(data))
            guard case .data(data) = try await task.receive() else {
                Issue.record("it did not come back")
                return
            }
            task.cancel()
        }
    }

    @Test("[U-8.2, U-8.8] the delegate calls of a WebSocket, in order", arguments: TestedHTTP.allCases)
    func life(_ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let task = try socket(
                session, origin, "?protocols=lupine&count=2&close=4001&reason=bye",
                protocols: ["other", "lupine"])
            #expect(text(try await task.receive()) == "0")
            #expect(text(try await task.receive()) == "1")
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries == [
                    "open lupine", "close 0 bye", "metrics \(testedHTTP.switched)", "complete nil",
                ])
            #expect(task.closeCode == .invalid && task.closeReason == Data("bye".utf8))
            let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(error?.code == .networkConnectionLost)
            await #expect(throws: URLError.self) { try await task.send(.string("late")) }
        }
    }

    @Test(
        "[U-8.8] the server's close frame ends the task without an error, whatever its code",
        arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 0], TestedHTTP.allCases)
    func closeCodes(_ code: Int, _ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let task = try socket(session, origin, "?close=\(code)")
            await delegate.log.wait(for: "complete")
            let shown = code == 0 ? 1005 : code
            #expect(
                delegate.log.entries == [
                    "open -", "close \(shown) -", "metrics \(testedHTTP.switched)", "complete nil",
                ])
            #expect(task.closeCode.rawValue == shown && task.closeReason == nil && task.error == nil)
        }
    }

    @Test(
        "[U-8.9] our close frame follows the sent messages, and the task ends without an error",
        arguments: TestedHTTP.allCases)
    func weClose(_ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let task = try socket(session, origin)
            try await task.send(.string("first"))
            #expect(text(try await task.receive()) == "first")
            task.send(.string("last")) { delegate.log.add("sent \($0 == nil)") }
            task.cancel(with: .goingAway, reason: Data(String(repeating: "é", count: 100).utf8))
            await delegate.log.wait(for: "complete")
            let reason = String(repeating: "é", count: 61)
            #expect(
                delegate.log.entries == [
                    "open -", "sent true", "close 1001 \(reason)", "metrics \(testedHTTP.switched)",
                    "complete nil",
                ])
            #expect(task.closeCode == .goingAway && task.closeReason == Data(reason.utf8))
        }
    }

    @Test("[U-8.9] our close frame is sent while the task is suspended", arguments: TestedHTTP.allCases)
    func weCloseWhenHeld(
        _ testedHTTP: TestedHTTP
    ) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let task = try socket(session, origin)
            try await task.send(.string("first"))
            #expect(text(try await task.receive()) == "first")
            task.suspend()
            task.cancel(with: .goingAway, reason: nil)
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries == [
                    "open -", "close 1001 -", "metrics \(testedHTTP.switched)", "complete nil",
                ])
        }
    }

    /// A way for a task to end without having begun.
    enum UnstartedEnd: CaseIterable { case cancelled, sessionInvalidated, madeInInvalidSession }

    @Test(
        "waiting handlers of a task that never started are called at its end",
        arguments: UnstartedEnd.allCases)
    func unstarted(_ way: UnstartedEnd) async throws {
        try await withSession { session, origin in
            if way == .madeInInvalidSession { session.invalidateAndCancel() }
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/websocket"))
            let task = session.webSocketTask(with: url)
            let log = CallLog()
            task.receive { result in
                if case .failure(let error) = result { log.add("receive \((error as NSError).code)") }
            }
            task.send(.string("a")) { log.add("send \(($0 as NSError?)?.code ?? 0)") }
            task.sendPing { log.add("ping \(($0 as NSError?)?.code ?? 0)") }
            switch way {
            case .cancelled: task.cancel()
            case .sessionInvalidated: session.invalidateAndCancel()
            case .madeInInvalidSession: task.resume()
            }
            await log.wait(for: "ping")
            #expect(log.entries == ["receive -999", "send -999", "ping -999"])
            let late = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(late?.code == .cancelled)
        }
    }

    @Test("[U-8.10] `cancel()` sends no close frame", arguments: TestedHTTP.allCases) func cancel(
        _ testedHTTP: TestedHTTP
    ) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let task = try socket(session, origin)
            try await task.send(.string("a"))
            #expect(text(try await task.receive()) == "a")
            task.receive { result in
                if case .failure(let error) = result {
                    delegate.log.add("waiter \((error as? URLError)?.code.rawValue ?? 0)")
                }
            }
            task.cancel()
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries == [
                    "open -", "waiter -999", "metrics \(testedHTTP.switched)", "complete -999",
                ])
            #expect(task.closeCode == .invalid)
        }
    }

    @Test(
        "[U-8.3] another status fails the task, and `response` has it", arguments: ["/status/503", "/get"],
        TestedHTTP.allCases)
    func refused(_ path: String, _ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)\(path)"))
            let task = session.webSocketTask(with: url)
            task.send(.string("queued")) { delegate.log.add("sent \(($0 as? URLError)?.code.rawValue ?? 0)") }
            task.resume()
            await delegate.log.wait(for: "complete")
            let status = path != "/get" ? 503 : testedHTTP == .http1 ? 200 : 400
            #expect((task.response as? HTTPURLResponse)?.statusCode == status)
            #expect(delegate.log.entries == ["sent -1011", "metrics \(status)", "complete -1011"])
        }
    }

    @Test(
        "[U-8.3] a connection that closes during the handshake is badServerResponse",
        arguments: TestedHTTP.allCases)
    func droppedInHandshake(_ testedHTTP: TestedHTTP)
        async throws
    {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            origin.script("GET", "/drop", ScriptPlan(.close))
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/drop"))
            session.webSocketTask(with: url).resume()
            await delegate.log.wait(for: "complete")
            #expect(delegate.log.entries.last == "complete -1011")
        }
    }

    @Test("[U-8.2] a 101 with a wrong Sec-WebSocket-Accept is refused") func foreignAnswer() async throws {
        let delegate = SocketDelegate()
        try await withSession(.http1, delegate) { session, origin in
            origin.script(
                "GET", "/foreign",
                ScriptPlan(
                    .send(
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"), .stall))
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/foreign"))
            session.webSocketTask(with: url).resume()
            await delegate.log.wait(for: "complete")
            #expect(delegate.log.entries == ["metrics 101", "complete -1011"])
        }
    }

    @Test("[U-8.6] a message over the limit ends the task", arguments: TestedHTTP.allCases) func tooBig(
        _ testedHTTP: TestedHTTP
    ) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/websocket?size=1001"))
            let task = session.webSocketTask(with: url)
            task.maximumMessageSize = 1000
            task.resume()
            let error = await #expect(throws: NSError.self) { _ = try await task.receive() }
            #expect(error?.domain == NSPOSIXErrorDomain && error?.code == Int(EMSGSIZE))
            await delegate.log.wait(for: "complete")
            #expect((task.error as NSError?)?.code == Int(EMSGSIZE))
            #expect(!delegate.log.entries.contains { $0.hasPrefix("close") })
        }
    }

    @Test(
        "[U-8.5] a server that breaks the protocol fails the task",
        arguments: ["81810102030405", "c100", "8300", "897e007e", "0900", "8101ff", "8000"],
        TestedHTTP.allCases)
    func violation(_ raw: String, _ testedHTTP: TestedHTTP) async throws {
        try await withSession(testedHTTP) { session, origin in
            let task = try socket(session, origin, "?raw=\(raw)")
            let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(error?.code == .badServerResponse)
        }
    }

    @Test("[U-8.7] a ping gets its pong; an unsolicited pong is ignored", arguments: TestedHTTP.allCases)
    func pings(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(testedHTTP) { session, origin in
            let task = try socket(session, origin, "?ping=x&pong=y")
            try await task.sendPing()
            try await task.send(.string("alive"))
            #expect(text(try await task.receive()) == "alive")
            task.cancel()
            await #expect(throws: URLError.self) { try await task.sendPing() }
        }
    }

    @Test("[U-8.11] a connection that ends without a close frame is lost", arguments: TestedHTTP.allCases)
    func lost(_ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            let task = try socket(session, origin, "?drop=1")
            try await task.send(.string("a"))
            _ = try? await task.receive()
            await delegate.log.wait(for: "complete")
            #expect(delegate.log.entries.last == "complete -1005" && task.closeCode == .invalid)
            #expect(!delegate.log.entries.contains { $0.hasPrefix("close") })
        }
    }

    @Test(
        "[U-8.4] several receivers are served in order, and a handler may receive again",
        arguments: TestedHTTP.allCases)
    func receivers(_ testedHTTP: TestedHTTP) async throws {
        let log = CallLog()
        try await withSession(testedHTTP) { session, origin in
            let task = try socket(session, origin, "?count=100&close=1000")
            @Sendable func next(_ number: Int) {
                task.receive { result in
                    switch result {
                    case .success(.string(let text)):
                        log.add(text)
                        next(number + 1)
                    case .success(.data): log.add("data")
                    case .failure: log.add("end")
                    }
                }
            }
            next(0)
            await log.wait(for: "end")
            #expect(log.entries == (0..<100).map(String.init) + ["end"])
        }
    }

    @Test("a slow reader loses no message", arguments: TestedHTTP.allCases) func slowReader(
        _ testedHTTP: TestedHTTP
    )
        async throws
    {
        try await withSession(testedHTTP) { session, origin in
            let task = try socket(session, origin, "?count=20000")
            for number in 0..<20_000 where text(try await task.receive()) != String(number) {
                Issue.record("not \(number)")
                return
            }
            task.cancel()
        }
    }

    @Test("[U-8.1] only ws and wss, and only GET", arguments: ["http://127.0.0.1:1/", "ftp://127.0.0.1/"])
    func schemes(_ text: String) async throws {
        try await withSession { session, _ in
            let task = session.webSocketTask(with: try #require(URL(string: text)))
            task.resume()
            let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(error?.code == .unsupportedURL)
        }
    }

    @Test("[U-8.1] a redirect of the handshake is followed", arguments: TestedHTTP.allCases) func redirect(
        _ testedHTTP: TestedHTTP
    ) async throws {
        try await withSession(testedHTTP) { session, origin in
            origin.route("GET", "/moved") { _ throws(Refusal) in
                var response = OriginResponse(302)
                try response.add(.location, "/websocket")
                return response
            }
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/moved"))
            let task = session.webSocketTask(with: url)
            task.resume()
            try await task.send(.string("here"))
            #expect(text(try await task.receive()) == "here")
            task.cancel()
        }
    }

    /// The authentication that a server asks for; `refused` accepts no credential.
    enum Login: CaseIterable {
        case basic, digest, refused

        var challenge: String {
            self == .digest
                ? "Digest realm=\"members\", qop=\"auth\", nonce=\"n0nce\", algorithm=SHA-256"
                : "Basic realm=\"members\""
        }
    }

    @Test(
        "[U-8.1, U-11.4, U-11.6, H-13.2] a challenged handshake is repeated with the credential",
        arguments: Login.allCases, TestedHTTP.allCases)
    func challenged(_ login: Login, _ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate(
            URLCredential(user: "Mufasa", password: "Circle of Life", persistence: .forSession))
        try await withSession(testedHTTP, delegate) { session, origin in
            let sentCredentials = LockedValue<[String]>([])
            origin.route(
                "GET", "/members",
                .chosen { request throws(Refusal) in
                    let credentials = request.field("Authorization")
                    sentCredentials.update { $0.append(credentials ?? "-") }
                    guard credentials == nil || login == .refused else { return try request.greeting() }
                    var response = OriginResponse(401)
                    try response.add("WWW-Authenticate", login.challenge)
                    return .respond(response)
                })
            let url = try #require(URL(string: "ws://127.0.0.1:\(origin.port)/members"))
            let task = session.webSocketTask(with: url)
            task.resume()
            if login == .refused {
                let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
                #expect(error?.code == .badServerResponse)
                #expect((task.response as? HTTPURLResponse)?.statusCode == 401)
                #expect(
                    delegate.log.entries.filter { $0.hasPrefix("chall") } == ["challenge 0", "challenge 1"])
            } else {
                #expect(text(try await task.receive()) == "hi")
                #expect((task.response as? HTTPURLResponse)?.statusCode == testedHTTP.switched)
                await delegate.log.wait(for: "open -")
                #expect(delegate.log.entries == ["challenge 0", "open -"])
            }
            #expect(sentCredentials.value.count == 2 && sentCredentials.value.first == "-")
            let sent = sentCredentials.value.last ?? ""
            if login == .digest {
                let parts = ["username=\"Mufasa\"", "uri=\"/members\"", "nonce=\"n0nce\"", "nc=00000001"]
                #expect(sent.hasPrefix("Digest ") && parts.allSatisfy { sent.contains($0) }, "\(sent)")
            } else {
                #expect(sent == "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl")
            }
            _ = try await session.data(from: try #require(URL(string: origin.url + "/get")))
            if testedHTTP == .http2 { #expect(origin.counts.connectionsAccepted == 1) }
            task.cancel()
        }
    }

    @Test(
        "[U-6.4, H-13.6] a WebSocket that is suspended while messages arrive loses none, and delays no other task",
        arguments: TestedHTTP.allCases)
    func suspended(_ testedHTTP: TestedHTTP) async throws {
        try await withSession(testedHTTP) { session, origin in
            let (rounds, share) = (20, 1_000)
            let task = try socket(session, origin, "?count=\(rounds * share)")
            let url = try #require(URL(string: origin.url + "/bytes/100000"))
            for round in 0..<rounds {
                for number in round * share..<(round + 1) * share
                where text(try await task.receive()) != String(number) {
                    Issue.record("not \(number)")
                    return
                }
                task.suspend()
                #expect(try await session.data(from: url).0.count == 100_000)
                task.resume()
            }
            task.suspend()
            async let echo = task.receive()
            async let sent: Void = task.send(.string("late"))
            #expect(try await session.data(from: url).0.count == 100_000)
            task.resume()
            try await sent
            #expect(text(try await echo) == "late")
            if testedHTTP == .http2 { #expect(origin.counts.connectionsAccepted == 1) }
            task.cancel()
        }
    }

    @Test(
        "[U-8.12, H-13.5] an unanswered handshake ends with the time-out and closes the connection",
        arguments: TestedHTTP.allCases)
    func unanswered(_ testedHTTP: TestedHTTP) async throws {
        let delegate = SocketDelegate()
        try await withSession(testedHTTP, delegate) { session, origin in
            origin.answer("GET", "/silent", ScriptPlan(.expectEnd, .signal("gone"), .stall))
            let get = try #require(URL(string: origin.url + "/bytes/1000"))
            let other = try socket(session, origin)
            try await other.send(.string("before"))
            #expect(text(try await other.receive()) == "before")
            let host = "127.0.0.1:\(origin.port)"
            var request = URLRequest(url: try #require(URL(string: "ws://\(host)/silent")))
            // Longer than a busy machine needs to send the request.
            request.timeoutInterval = 10
            let task = session.webSocketTask(with: request)
            task.send(.string("queued")) { delegate.log.add("sent \(($0 as? URLError)?.code.rawValue ?? 0)") }
            task.resume()
            let error = await #expect(throws: URLError.self) { _ = try await task.receive() }
            #expect(error?.code == .timedOut)
            let reason = error?.localizedDescription ?? ""
            #expect(reason.hasPrefix("timed out after 10 s without a byte to or from \(host);"), "\(reason)")
            await origin.gate("gone").wait()
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries.filter { !$0.hasPrefix("metrics") } == [
                    "open -", "sent -1001", "complete -1001",
                ])
            if testedHTTP == .http2 {
                #expect(origin.counts.connectionsAccepted == 1, "the other one's, too")
            }
            try await other.send(.string("after"))
            #expect(text(try await other.receive()) == "after")
            #expect(try await session.data(from: get).0.count == 1_000)
        }
    }

    @Test("[U-8.12] WebSockets do not count against the connections of a host") func limits() async throws {
        let origin = try LupineOrigin.Origin.start()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = 1
        let session = URLSession(configuration: configuration)
        var sockets: [URLSessionWebSocketTask] = []
        for number in 0..<5 {
            let task = try socket(session, origin)
            try await task.send(.string("\(number)"))
            #expect(text(try await task.receive()) == "\(number)")
            sockets.append(task)
        }
        let (_, response) = try await session.data(from: try #require(URL(string: origin.url + "/get")))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        session.invalidateAndCancel()
        await origin.shutdown()
    }
}

extension TestedHTTP {
    /// The status that opens a WebSocket connection.
    fileprivate var switched: Int { self == .http1 ? 101 : 200 }
}

extension OriginRequest {
    /// Accepts the WebSocket handshake, and sends "hi".
    fileprivate func greeting() throws(Refusal) -> EndpointChoice {
        let hello: [UInt8] = [0x81, 0x02, 0x68, 0x69]
        if head.version == .http2 {
            return .perform(StreamScript([.head([(":status", "200")]), .content(hello, endsStream: false)]))
        }
        do throws(WebSocketError) {
            let fields = try WebSocketServerHandshake(head).response.fields
            var text = "HTTP/1.1 101 Switching Protocols\r\n"
            for index in 0..<fields.count {
                text += "\(fields.name(at: index)): \(fields.value(at: index))\r\n"
            }
            return .follow(Script([.send(Array((text + "\r\n").utf8) + hello), .stall]))
        } catch { throw Refusal(400, "\(error)") }
    }
}

/// A delegate that records the calls of a WebSocket task, and answers challenges with one credential.
private final class SocketDelegate: NSObject, URLSessionWebSocketDelegate {
    let log = CallLog()
    private let credential: URLCredential?

    init(_ credential: URLCredential? = nil) { self.credential = credential }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        log.add("challenge \(challenge.previousFailureCount)")
        let isFirst = challenge.previousFailureCount == 0
        completionHandler(isFirst ? .useCredential : .performDefaultHandling, isFirst ? credential : nil)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) { log.add("open \(`protocol` ?? "-")") }
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) { log.add("close \(closeCode.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "-")") }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let response = metrics.transactionMetrics.last?.response as? HTTPURLResponse
        log.add("metrics \(response?.statusCode ?? 0)")
    }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.add("complete \((error as? URLError).map { "\($0.code.rawValue)" } ?? "nil")")
    }
}
