// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Stream tasks against scripted servers on this machine, through all layers.
struct StreamTaskTests {
    @Test("[U-7.16] bytes are sent both ways, and each half can be closed") func bothWays() async throws {
        try await StreamStage.run([.expectBytes(5), .send("world"), .expectEnd, .send("bye"), .close]) {
            stage in
            let task = stage.task()
            #expect(task.originalRequest == nil && task.currentRequest == nil)
            task.resume()
            try await task.write("hello")
            let text1 = try await task.text(5, 5)
            #expect(text1 == "world")
            task.closeWrite()
            let text2 = try await task.text(100)
            #expect(text2 == "bye.")
            let text3 = try await task.text()
            #expect(text3 == ".")
            await stage.log.wait(for: "complete")
            #expect(stage.log.entries == ["write closed", "read closed", "metrics 0", "complete nil"])
            #expect(task.countOfBytesSent == 5 && task.countOfBytesReceived == 8)
            #expect(await task.failureOfWriting() == .networkConnectionLost)
            let text4 = try await task.text()
            #expect(text4 == ".")
            #expect(ClientSockets.count(to: stage.origin.port) == 0)
        }
    }

    @Test(
        "[U-7.16] operations before the task is resumed are performed in order; handlers run on the delegate queue"
    )
    func inOrder() async throws {
        let script: [Script.Step] = [
            .expectBytes(8), .send("ok"), .startTLS(), .expectBytes(5), .send("inside"), .expectEnd,
            .send("bye"), .close,
        ]
        try await StreamStage.run(script) { stage in
            let task = stage.task()
            let (log, queue) = (stage.log, stage.session.delegateQueue)
            let record: @Sendable (String) -> Void = { text in
                #expect(OperationQueue.current == nil || OperationQueue.current == queue)
                log.add(text)
            }
            task.write(Data("STARTTLS".utf8), timeout: 0) { record("wrote \($0 == nil)") }
            task.readData(ofMinLength: 2, maxLength: 2, timeout: 0) { data, _, _ in
                record("read \(String(decoding: data ?? Data(), as: UTF8.self))")
            }
            task.startSecureConnection()
            task.write(Data("hello".utf8), timeout: 0) { record("wrote \($0 == nil)") }
            task.readData(ofMinLength: 6, maxLength: 6, timeout: 0) { data, _, _ in
                record("read \(String(decoding: data ?? Data(), as: UTF8.self))")
            }
            task.closeWrite()
            task.readData(ofMinLength: 100, maxLength: 100, timeout: 0) { data, isAtEnd, _ in
                record("read \(String(decoding: data ?? Data(), as: UTF8.self)) \(isAtEnd)")
            }
            task.resume()
            await log.wait(for: "complete")
            let entries = log.entries
            #expect(
                entries.filter { $0 != "read closed" } == [
                    "wrote true", "read ok", "challenge \(NSURLAuthenticationMethodServerTrust) good.test",
                    "wrote true", "read inside", "write closed", "read bye true", "metrics 0", "complete nil",
                ])
            #expect(entries.count { $0 == "read closed" } == 1)
        }
    }

    @Test("[U-7.16] TLS ends with close_notify, and closes the connection") func stopsSecure() async throws {
        try await StreamStage.run([.startTLS(), .expectBytes(4), .expectEnd, .signal("bye"), .stall]) {
            stage in
            let task = stage.task()
            task.resume()
            task.startSecureConnection()
            try await task.write("last")
            task.stopSecureConnection()
            await stage.origin.gate("bye").wait()
            await stage.log.wait(for: "complete nil")
            #expect(await task.failureOfReading() == .networkConnectionLost)
        }
    }

    @Test(
        "[U-7.16] an untrusted server fails the task, unless the challenge is answered otherwise",
        arguments: [false, true])
    func trust(_ isAccepted: Bool) async throws {
        let script: [Script.Step] = [.startTLS(), .expectBytes(5), .send("inside"), .stall]
        let answer: StreamStage.Answer = { challenge in
            let trust = challenge.protectionSpace.serverTrust
            return (.useCredential, trust.map { URLCredential(trust: $0) })
        }
        try await StreamStage.run(script, leaf: "self-signed", answering: isAccepted ? answer : nil) {
            stage in
            let task = stage.task()
            task.resume()
            task.startSecureConnection()
            if isAccepted {
                try await task.write("hello")
                let text5 = try await task.text(6)
                #expect(text5 == "inside")
                return
            }
            #expect(await task.failureOfWriting() == .serverCertificateUntrusted)
            await stage.log.wait(for: "complete")
            let error = try #require(task.error as? URLError)
            #expect(error.code == .serverCertificateUntrusted && error.failureURLPeerTrust != nil)
            #expect(stage.log.entries.suffix(2) == ["metrics 0", "complete -1202"])
            #expect(ClientSockets.count(to: stage.origin.port) == 0)
        }
    }

    @Test("[U-7.16] a client certificate request is answered as the challenge is")
    func clientCertificate() async throws {
        let identity = try TrustStage.identity("client-ecdsa")
        let script: [Script.Step] = [.startTLS(), .expectBytes(5), .send("inside"), .stall]
        let answer: StreamStage.Answer = { challenge in
            guard challenge.protectionSpace.serverTrust == nil else { return (.performDefaultHandling, nil) }
            return (
                .useCredential, URLCredential(identity: identity, certificates: nil, persistence: .forSession)
            )
        }
        try await StreamStage.run(script, asksForIdentity: true, answering: answer) { stage in
            let task = stage.task()
            task.resume()
            task.startSecureConnection()
            try await task.write("hello")
            let text6 = try await task.text(6)
            #expect(text6 == "inside")
            let handshake = await stage.origin.handshake(on: 0)
            #expect(handshake?.clientCertificates.isEmpty == false)
        }
    }

    @Test("[U-7.16] the peer reads the last bytes, though not everything from it was read") func unread()
        async throws
    {
        let script: [Script.Step] = [
            .send([UInt8](repeating: 1, count: 100_000)), .signal("sent"), .waitForSignal("closed"),
            .expectBytes(4), .expectEnd, .signal("all"), .stall,
        ]
        try await StreamStage.run(script) { stage in
            let task = stage.task()
            task.resume()
            await stage.origin.gate("sent").wait()
            try await task.write("last")
            task.closeRead()
            task.closeWrite()
            await stage.log.wait(for: "complete nil")
            stage.origin.gate("closed").open()
            await stage.origin.gate("all").wait()
        }
    }

    // MARK: ends

    struct Stop: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: [Script.Step]
        var isResumed = true
        var throughProxy = false
        var isSecure = false
        var challenges = false
        var writes = 0
        /// The test cancels after this event: a gate of the server's, or a call.
        var gate: String?
        var call: String?
    }

    static let stops = [
        Stop(testDescription: "[U-6.5] before it is resumed", script: [.stall], isResumed: false),
        Stop(testDescription: "at once", script: [.stall]),
        Stop(
            testDescription: "while a proxy delays its response",
            script: [.expectHead, .signal("here"), .stall],
            throughProxy: true, gate: "here"),
        Stop(
            testDescription: "while a read waits", script: [.expectBytes(1), .signal("here"), .stall],
            writes: 1, gate: "here"),
        Stop(
            testDescription: "while a write waits", script: [.expectBytes(1), .signal("here"), .stall],
            writes: 64 << 20, gate: "here"),
        Stop(
            testDescription: "in the handshake", script: [.expectBytes(1), .signal("here"), .stall],
            isSecure: true, gate: "here"),
        Stop(
            testDescription: "while the program delays its answer to a challenge",
            script: [.startTLS(), .stall],
            isSecure: true, challenges: true, call: "challenge"),
    ]

    /// A program that never answers a challenge.
    private static let silence: StreamStage.Answer = { _ in nil }

    @Test(
        "[U-7.16, U-6.5] waiting operations fail when the task is cancelled, and no connection stays open",
        arguments: stops)
    func cancelled(_ stop: Stop) async throws {
        let answer = stop.challenges ? Self.silence : nil
        let configure = Self.useProxy(stop.throughProxy ? "HTTPS" : nil)
        try await StreamStage.run(stop.script, configure: configure, answering: answer) { stage in
            let task = stage.task()
            if stop.isSecure { task.startSecureConnection() }
            if stop.writes > 0 {
                task.write(Data(count: stop.writes), timeout: 0) { stage.log.add("wrote \($0 == nil)") }
            }
            for number in 1...2 {
                task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) { _, _, error in
                    stage.log.add("read \(number) \((error as? URLError)?.code.rawValue ?? 0)")
                }
            }
            if stop.isResumed { task.resume() }
            if let gate = stop.gate { await stage.origin.gate(gate).wait() }
            if let call = stop.call { await stage.log.wait(for: call) }
            task.cancel()
            await stage.log.wait(for: "complete")
            let entries = stage.log.entries.filter { !$0.hasPrefix("challenge") && !$0.hasPrefix("wrote") }
            #expect(entries == ["read 1 -999", "read 2 -999", "metrics 0", "complete -999"])
            if stop.writes > 1 { #expect(stage.log.entries.contains("wrote false")) }
            #expect(ClientSockets.count(to: stage.origin.port) == 0)
            #expect(await task.failureOfReading() == .cancelled)
        }
    }

    @Test("[U-7.16] an operation that takes too long fails, and so do later ones of its kind") func timeouts()
        async throws
    {
        try await StreamStage.run([.expectEnd, .stall]) { stage in
            let task = stage.task()
            task.resume()
            #expect(await task.failureOfReading(timeout: 0.02) == .timedOut)
            #expect(await task.failureOfReading() == .timedOut)
            #expect(await task.failureOfWriting() == nil)
            #expect(await task.failureOfWriting(1 << 20) == nil)
            task.closeWrite()
            await stage.log.wait(for: "complete")
            #expect(stage.log.entries == ["read closed", "write closed", "metrics 0", "complete -1001"])
        }
        try await StreamStage.run([.stall]) { stage in
            let task = stage.task()
            task.resume()
            #expect(await task.failureOfWriting(64 << 20, timeout: 0.02) == .timedOut)
            #expect(await task.failureOfWriting() == .timedOut)
        }
    }

    @Test("[U-7.16] a broken connection fails waiting operations and the task") func broken() async throws {
        try await StreamStage.run([.expectBytes(1), .reset]) { stage in
            let task = stage.task()
            task.resume()
            try await task.write("x")
            #expect(await task.failureOfReading() == .networkConnectionLost)
            await stage.log.wait(for: "complete -1005")
            #expect(ClientSockets.count(to: stage.origin.port) == 0)
        }
    }

    struct UnreachableHost: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let host: String
        let port: Int
        let code: URLError.Code
    }

    @Test(arguments: [
        UnreachableHost(
            testDescription: "[U-7.16] a refused connection", host: "127.0.0.1", port: 1,
            code: .cannotConnectToHost
        ),
        UnreachableHost(
            testDescription: "[U-7.16] a path in the host", host: "127.0.0.1/x", port: 80, code: .badURL),
        UnreachableHost(
            testDescription: "[U-7.16] a fragment in the host", host: "127.0.0.1#", port: 80, code: .badURL),
        UnreachableHost(testDescription: "[U-7.16] no host", host: "", port: 80, code: .badURL),
        UnreachableHost(
            testDescription: "[U-7.16] no such port", host: "127.0.0.1", port: 65536, code: .badURL),
        UnreachableHost(
            testDescription: "[U-7.16] a negative port", host: "127.0.0.1", port: -1, code: .badURL),
    ])
    func unreachableHosts(_ row: UnreachableHost) async throws {
        try await StreamStage.run([.stall]) { stage in
            let task = stage.session.streamTask(withHostName: row.host, port: row.port)
            task.resume()
            #expect(await task.failureOfReading() == row.code)
            await stage.log.wait(for: "complete")
            #expect(stage.log.entries == ["metrics 0", "complete \(row.code.rawValue)"])
        }
    }

    @Test("[U-4.4] a task of an invalid session calls the handlers of its operations") func invalidSession()
        async throws
    {
        try await StreamStage.run([.stall]) { stage in
            stage.session.invalidateAndCancel()
            let task = stage.task()
            task.resume()
            #expect(await task.failureOfReading() == .cancelled)
        }
    }

    // MARK: proxies

    @Test("[U-7.16] a tunnel through an HTTP proxy, also to a server that sends first")
    func throughHTTPProxy() async throws {
        let script: [Script.Step] = [
            .expectHead, .send("HTTP/1.1 200 Connected\r\n\r\n220 ready"), .expectBytes(4), .send("done"),
            .close,
        ]
        try await StreamStage.run(script, configure: Self.useProxy("HTTPS")) { stage in
            let task = stage.task()
            task.resume()
            let text7 = try await task.text(9, 9)
            #expect(text7 == "220 ready")
            try await task.write("HELO")
            let text8 = try await task.text(100)
            #expect(text8 == "done.")
        }
    }

    @Test("[U-7.16] plain bytes are not taken for TLS records") func injected() async throws {
        let script: [Script.Step] = [
            .expectHead, .send("HTTP/1.1 200 Connected\r\n\r\n220 ready"), .stall,
        ]
        try await StreamStage.run(script, configure: Self.useProxy("HTTPS")) { stage in
            let task = stage.task()
            task.resume()
            let text9 = try await task.text(4, 4)
            #expect(text9 == "220 ")
            task.startSecureConnection()
            #expect(await task.failureOfReading() == .secureConnectionFailed)
        }
    }

    @Test("[U-7.16] a connection through a SOCKS proxy") func throughSOCKS() async throws {
        let script: [Script.Step] = [
            .expectBytes(3), .send([5, 0]), .expectBytes(4 + 1 + 9 + 2),
            .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), .startTLS(), .expectBytes(5), .send("world"), .close,
        ]
        try await StreamStage.run(script, configure: Self.useProxy("SOCKS")) { stage in
            let task = stage.task()
            task.resume()
            task.startSecureConnection()
            try await task.write("hello")
            let text10 = try await task.text(100)
            #expect(text10 == "world.")
        }
    }

    private static func useProxy(_ name: String?) -> (URLSessionConfiguration, LupineOrigin.Origin) -> Void {
        { configuration, origin in
            guard let name else { return }
            configuration.connectionProxyDictionary = [
                "\(name)Enable": 1, "\(name)Proxy": "127.0.0.1", "\(name)Port": Int(origin.port),
            ]
        }
    }
}

/// The TCP sockets of this network namespace that are connected to a port and still open in a process.
enum ClientSockets {
    static func count(to port: UInt16) -> Int {
        let table = (try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)) ?? ""
        return table.split(separator: "\n").dropFirst().count { line in
            let columns = line.split(separator: " ")
            guard columns.count > 9, let text = columns[2].split(separator: ":").last else { return false }
            return UInt16(text, radix: 16) == port && columns[9] != "0"
        }
    }
}
