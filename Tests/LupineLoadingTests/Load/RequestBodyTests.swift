// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Request bodies of every kind, sent in every way: U-7.3 to U-7.8, U-9.3, U-9.15.
@Suite struct RequestBodyTests {
    enum Kind: CaseIterable { case data, task, file, stream, asked }

    private func hop(
        _ kind: Kind, _ bytes: [UInt8], _ stage: LoadStage, length: Int? = nil, method: String = "PUT"
    ) throws -> HopRequest {
        var request = try stage.request(method: method)
        if let length { request.setValue("\(length)", forHTTPHeaderField: "Content-Length") }
        switch kind {
        case .data:
            request.httpBody = Data(bytes)
            return HopRequest(request: request)
        case .task:
            request.httpBody = Data("not this".utf8)
            return HopRequest(request: request, body: .data(Data(bytes)))
        case .file: return HopRequest(request: request, body: .file(try temporary(bytes)))
        case .stream:
            request.httpBodyStream = InputStream(data: Data(bytes))
            return HopRequest(request: request)
        case .asked:
            request.httpBodyStream = InputStream(data: Data("not this".utf8))
            return HopRequest(request: request, body: .streamed)
        }
    }

    private func temporary(_ bytes: [UInt8]) throws -> URL {
        let url = files.folder.appending(path: UUID().uuidString)
        try Data(bytes).write(to: url)
        return url
    }

    /// A folder that is removed at the end of the test.
    private final class Files {
        let folder = FileManager.default.temporaryDirectory.appending(path: "body-\(UUID().uuidString)")

        init() throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        deinit { try? FileManager.default.removeItem(at: folder) }
    }

    private let files: Files

    init() throws { files = try Files() }

    private func client(_ bytes: [UInt8]) -> RecordingHopClient {
        RecordingHopClient(stream: { _ in InputStream(data: Data(bytes)) })
    }

    private static let small = Array("hello".utf8)

    /// U-7.4 on the wire: a length if it is known, otherwise chunks.
    @Test(arguments: Kind.allCases, [nil, 5]) func onTheWire(_ kind: Kind, _ length: Int?) async throws {
        let isChunked = (kind == .stream || kind == .asked) && length == nil
        let body = isChunked ? "5\r\nhello\r\n0\r\n\r\n" : "hello"
        let plan = ScriptPlan(.expectHead, .expectBytes(body.utf8.count), .reply(), .stall)
        try await withLoads(plan) { stage in
            let client = client(Self.small)
            let log = await stage.send(try hop(kind, Self.small, stage, length: length), client)
            #expect(log.error == nil && log.text == "ok")
            #expect(stage.wire().hasSuffix("\r\n\r\n" + body))
            #expect(stage.wire().contains("\r\nContent-Length: 5\r\n") == !isChunked)
            #expect(stage.wire().contains("\r\nTransfer-Encoding: chunked\r\n") == isChunked)
            // U-7.7: the total is reported, and only once.
            #expect(log.sent == [5] && log.expected == (isChunked ? -1 : 5))
            #expect(log.streamRequests == (kind == .asked ? 1 : 0))
            #expect(log.metrics?.bodyBytesBeforeEncoding == 5 && log.overlaps == 0)
        }
    }

    @Test(arguments: Kind.allCases, TestedHTTP.allCases) func largeOnes(
        _ kind: Kind, over testedHTTP: TestedHTTP
    )
        async throws
    {
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 9) }
        try await withLoads(over: testedHTTP) { stage in
            let hop = try hop(kind, bytes, stage, method: "POST")
            var request = hop.request
            request.url = URL(string: "http://origin.test:\(stage.origin.port)/hash")
            let log = await stage.send(HopRequest(request: request, body: hop.body), client(bytes))
            #expect(log.error == nil && log.response?.statusCode == 200)
            // U-7.7: the counts only increase, and the last one is the total.
            #expect(log.sent == log.sent.sorted() && Set(log.sent).count == log.sent.count)
            #expect(log.sent.last == 3_000_000)
            #expect(log.text.contains("3000000"), "\(log.text)")
        }
    }

    @Test(arguments: Kind.allCases, TestedHTTP.allCases) func emptyOnes(
        _ kind: Kind, over testedHTTP: TestedHTTP
    )
        async throws
    {
        let isChunked = kind == .stream || kind == .asked
        let plan = ScriptPlan([
            Script(
                [.expectHead] + (isChunked && testedHTTP == .http1 ? [.expectBytes(5)] : []) + [
                    .reply(), .stall,
                ])
        ])
        try await withLoads(plan, over: testedHTTP) { stage in
            let log = await stage.send(try hop(kind, [], stage, method: "POST"), client([]))
            #expect(log.error == nil && log.sent.isEmpty, "U-7.7: nothing to tell of an empty body")
            #expect(stage.wire().contains("Content-Length: 0\r\n") == !isChunked)
            #expect(stage.wire().contains("Content-Type") == isChunked)
        }
    }

    @Test(
        "[U-7.8, U-9.13] an early response: the rest of the body is not sent, and the connection is not reused",
        arguments: Kind.allCases, TestedHTTP.allCases)
    func anEarlyAnswer(_ kind: Kind, over testedHTTP: TestedHTTP) async throws {
        let bytes = [UInt8](repeating: 3, count: 48 << 20)
        let plan = ScriptPlan([
            Script([
                .expectHead, .reply("too large", status: "413 Content Too Large"), .waitForSignal("over"),
            ]),
            Script([.expectHead, .reply("second"), .stall]),
        ])
        try await withLoads(plan, over: testedHTTP) { stage in
            let log = await stage.send(try hop(kind, bytes, stage), client(bytes))
            #expect(log.error == nil && log.response?.statusCode == 413 && log.text == "too large")
            #expect((log.sent.last ?? 0) < Int64(bytes.count))
            stage.origin.gate("over").open()
            #expect(try await stage.send().text == "second")
            #expect(stage.origin.counts.connectionsAccepted == (testedHTTP == .http1 ? 2 : 1))
        }
    }

    struct Replay: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let kind: Kind
        var method = "PUT"
        let isReplayed: Bool
    }

    /// Checks a connection that closes during a request, before any octet of a response.
    @Test(arguments: [
        Replay(testDescription: "[U-9.15] data", kind: .data, isReplayed: true),
        Replay(testDescription: "[U-9.15] a file", kind: .file, isReplayed: true),
        Replay(testDescription: "[U-9.15] a stream that is requested again", kind: .asked, isReplayed: true),
        Replay(testDescription: "[U-9.15] the request's own stream", kind: .stream, isReplayed: false),
        Replay(testDescription: "[U-9.15] POST", kind: .data, method: "POST", isReplayed: false),
    ])
    func aStaleConnection(_ row: Replay) async throws {
        let isChunked = row.kind == .stream || row.kind == .asked
        let body = isChunked ? "5\r\nhello\r\n0\r\n\r\n" : "hello"
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .expectHead, .expectBytes(body.utf8.count), .close]),
            Script([.expectHead, .expectBytes(body.utf8.count), .reply("again"), .stall]),
        ])
        try await withLoads(plan) { stage in
            #expect(try await stage.send().text == "first")
            let client = client(Self.small)
            let log = await stage.send(try hop(row.kind, Self.small, stage, method: row.method), client)
            if row.isReplayed {
                #expect(log.error == nil && log.text == "again")
                #expect(stage.wire(1).hasSuffix(body))
                #expect(log.metrics?.exchanges.count == 2 && log.metrics?.exchanges.last?.wasReplayed == true)
                #expect(log.streamRequests == (row.kind == .asked ? 2 : 0))
                // U-7.7: counted from the start again.
                #expect(log.sent == [5, 5])
            } else {
                #expect(log.error?.code == .networkConnectionLost)
                #expect(log.metrics?.exchanges.count == 1)
            }
        }
    }

    @Test("[U-7.5] a stream that blocks does not delay the stream of the second attempt")
    func aBlockedStream() async throws {
        let body = "5\r\nhello\r\n0\r\n\r\n"
        let plan = ScriptPlan([
            // The CRLF after a chunk's data is sent with the next chunk.
            Script([.expectHead, .reply("first"), .expectHead, .expectBytes(8), .close]),
            Script([.expectHead, .expectBytes(body.utf8.count), .reply("again"), .stall]),
        ])
        let gate = DispatchSemaphore(value: 0)
        try await withLoads(plan) { stage in
            #expect(try await stage.send().text == "first")
            let isFirst = LockedValue(true)
            let client = RecordingHopClient(stream: { _ in
                defer { isFirst.set(false) }
                return isFirst.value ? BlockingStream(gate) : InputStream(data: Data(Self.small))
            })
            let log = await stage.send(try hop(.asked, Self.small, stage, method: "PUT"), client)
            #expect(log.error == nil && log.text == "again" && log.streamRequests == 2)
            #expect(stage.wire(1).hasSuffix(body))
        }
        gate.signal()
    }

    /// U-7.5: no stream is supplied, at first or for the second attempt.
    @Test(arguments: [0, 1]) func noStream(_ supplied: Int) async throws {
        let plan = ScriptPlan([
            Script([.expectHead, .reply("first"), .expectHead, .expectBytes(15), .close]),
            Script([.expectHead, .stall]),
        ])
        try await withLoads(plan) { stage in
            #expect(try await stage.send().text == "first")
            let client = RecordingHopClient(stream: {
                $0 < supplied ? InputStream(data: Data(Self.small)) : nil
            })
            let log = await stage.send(try hop(.asked, [], stage), client)
            #expect(log.streamRequests == supplied + 1 && log.ends == 1)
            #expect(log.error?.code == .requestBodyStreamExhausted)
        }
    }

    /// U-7.4: the stream is not as long as the declared length.
    @Test(arguments: [3, 7], [Kind.stream, .asked]) func aWrongLength(_ length: Int, _ kind: Kind)
        async throws
    {
        try await withLoads(ScriptPlan(.expectHead, .stall)) { stage in
            let log = await stage.send(try hop(kind, Self.small, stage, length: length), client(Self.small))
            #expect(log.error?.code == .requestBodyStreamExhausted && log.response == nil)
            let mismatch = log.error?.userInfo[NSUnderlyingErrorKey] as? BodyStreamSource.Failure
            #expect(
                mismatch == (length == 7 ? .tooShort(announced: 7, read: 5) : .tooLong(announced: 3)))
        }
    }

    @Test("[U-16.4] a stream's error is the load's error", arguments: TestedHTTP.allCases)
    func aStreamThatFails(over testedHTTP: TestedHTTP) async throws {
        try await withLoads(ScriptPlan(.expectHead, .stall), over: testedHTTP) { stage in
            var request = try stage.request(method: "POST")
            request.httpBodyStream = FailingStream()
            let log = await stage.send(HopRequest(request: request))
            #expect((log.failure as NSError?)?.domain == "test")
        }
    }

    struct MissingFile: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let path: String
        let code: URLError.Code
    }

    /// U-7.3: the error is found before anything is connected.
    @Test(
        arguments: [
            MissingFile(testDescription: "no such file", path: "/nonexistent/file", code: .fileDoesNotExist),
            MissingFile(testDescription: "below a file", path: "/etc/passwd/file", code: .fileDoesNotExist),
            MissingFile(testDescription: "a directory", path: "/etc", code: .fileIsDirectory),
            MissingFile(testDescription: "a device", path: "/dev/zero", code: .cannotOpenFile),
        ], TestedHTTP.allCases)
    func filesThatCannotBeSent(_ row: MissingFile, over testedHTTP: TestedHTTP) async throws {
        try await withLoads(over: testedHTTP) { stage in
            let hop = HopRequest(
                request: try stage.request(method: "PUT"), body: .file(URL(filePath: row.path)))
            let log = await stage.send(hop)
            #expect(log.error?.code == row.code && log.order == ["end"])
            #expect(stage.origin.counts.connectionsAccepted == 0)
        }
    }
}

/// A stream that fails after some bytes.
private final class FailingStream: InputStream {
    private var remaining = 3

    init() { super.init(data: Data()) }

    override var streamStatus: Stream.Status { .open }
    override var streamError: (any Error)? { NSError(domain: "test", code: 7) }
    override var hasBytesAvailable: Bool { true }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard remaining > 0 else { return -1 }
        remaining -= 1
        unsafe buffer.pointee = 0x61
        return 1
    }
}

/// A stream of five bytes that blocks after them.
private final class BlockingStream: InputStream {
    private let gate: DispatchSemaphore
    private var hasBegun = false

    init(_ gate: DispatchSemaphore) {
        self.gate = gate
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { .open }
    override func open() {}
    override func close() {}
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        if hasBegun {
            gate.wait()
            return 0
        }
        hasBegun = true
        for (index, byte) in "hello".utf8.enumerated() { unsafe buffer[index] = byte }
        return 5
    }
}
