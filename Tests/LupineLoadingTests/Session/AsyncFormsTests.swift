// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// `data(for:)` and similar methods, independently of what is loaded.
struct AsyncFormsTests {
    private func code<Value>(_ result: Result<Value, any Error>) -> URLError.Code? {
        if case .failure(let error as URLError) = result { return error.code }
        return nil
    }

    @Test("[U-4.7] data and response are returned, on any thread without a delegate")
    func data() async throws {
        let loads = ScriptedLoadSource()
        // This queue runs nothing.
        let operations = OperationQueue()
        operations.isSuspended = true
        defer { operations.isSuspended = false }
        let session = loads.session(queue: operations)
        async let answer = session.data(from: someURL())
        await loads.load().answer("hello")
        let (data, response) = try await answer
        #expect(data == Data("hello".utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("[U-4.7] the delegate argument gets the task, and metrics before the call returns")
    func delegate() async throws {
        let loads = ScriptedLoadSource { $0.answer("hello") }
        let session = loads.session()
        let delegate = RecordingDelegate()
        _ = try await session.data(from: someURL(), delegate: delegate)
        #expect(delegate.log.entries == ["created 1", "metrics"])
        _ = try await session.upload(for: URLRequest(url: someURL()), from: Data(), delegate: delegate)
        #expect(delegate.log.entries.suffix(2) == ["created 2", "metrics"])
        session.invalidateAndCancel()
    }

    @Test("[U-4.7] cancelling the Swift task cancels the transfer", arguments: [true, false])
    func cancellation(hasDelegate: Bool) async {
        let loads = ScriptedLoadSource()
        let session = loads.session(hasDelegate ? RecordingDelegate() : nil)
        let waiting = Task { try await session.data(from: someURL()) }
        let load = await loads.load()
        load.respond()
        waiting.cancel()
        let result = await waiting.result
        #expect(code(result) == .cancelled)
        #expect(load.calls.contains("cancel -999"))
        session.invalidateAndCancel()
    }

    @Test("[U-4.7] a cancelled Swift task starts no transfer")
    func cancelledBefore() async {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let start = OneTimeEvent()
        let waiting = Task {
            await start.wait()
            return try await session.data(from: someURL())
        }
        waiting.cancel()
        start.occur()
        let result = await waiting.result
        #expect(code(result) == .cancelled)
        #expect(loads.count == 0)
        session.invalidateAndCancel()
    }

    // MARK: bytes

    @Test("[U-4.7] bytes are returned before the body is complete, and pause the load while they wait")
    func bytes() async throws {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        async let answer = session.bytes(from: someURL())
        let load = await loads.load()
        load.respond()
        let (bytes, response) = try await answer
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let piece = String(repeating: "x", count: 65536)
        var count = 1
        while case .more = load.send(piece), count < 10 { count += 1 }
        #expect(count == 5)
        var iterator = bytes.makeAsyncIterator()
        for _ in 0..<(3 * 65536) { #expect(try await iterator.next() != nil) }
        #expect(!load.calls.contains("resumeReading"), "two pieces still wait")
        for _ in 0..<(2 * 65536) { _ = try await iterator.next() }
        await load.waitUntilResumed()
        load.send("y")
        load.end()
        #expect(try await iterator.next() == UInt8(ascii: "y"))
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        session.invalidateAndCancel()
    }

    @Test("[U-4.7] received bytes are read before the error")
    func bytesFail() async throws {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        async let answer = session.bytes(from: someURL())
        let load = await loads.load()
        load.respond()
        load.send("ab")
        load.end(URLError(.networkConnectionLost))
        let (bytes, _) = try await answer
        var read: [UInt8] = []
        await #expect(throws: URLError(.networkConnectionLost)) {
            for try await byte in bytes { read.append(byte) }
        }
        #expect(read == Array("ab".utf8))
        let failed = Task { try await session.bytes(from: someURL()) }
        await loads.load(1).end(URLError(.cannotConnectToHost))
        let result = await failed.result
        #expect(code(result) == .cannotConnectToHost)
        session.invalidateAndCancel()
    }

    @Test("[U-4.7] a cancelled reader that waits cancels the transfer")
    func bytesCancelled() async throws {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let isReading = OneTimeEvent()
        let waiting = Task {
            let (bytes, _) = try await session.bytes(from: someURL())
            for try await _ in bytes { isReading.occur() }
        }
        let load = await loads.load()
        load.respond()
        load.send("a")
        await isReading.wait()
        waiting.cancel()
        let result = await waiting.result
        #expect(code(result) == .cancelled)
        #expect(load.calls.contains("cancel -999"))
        session.invalidateAndCancel()
    }

    @Test("a transfer whose bytes were released is cancelled")
    func bytesDropped() async throws {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let task: URLSessionDataTask
        do {
            async let answer = session.bytes(from: someURL())
            let load = await loads.load()
            load.respond()
            task = try await answer.0.task
        }
        #expect(task.state == .canceling || task.state == .completed)
        session.invalidateAndCancel()
    }

    struct Lines: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let lines: [String]
    }

    @Test(arguments: [
        Lines(testDescription: "LF", text: "a\nb\n", lines: ["a", "b"]),
        Lines(testDescription: "CR LF", text: "a\r\nb", lines: ["a", "b"]),
        Lines(testDescription: "CR", text: "a\rb", lines: ["a", "b"]),
        Lines(testDescription: "empty lines are omitted", text: "\n\na\n\n\nb\n\n", lines: ["a", "b"]),
        Lines(
            testDescription: "Unicode line separators", text: "a\u{2028}b\u{2029}c\u{85}d",
            lines: ["a", "b", "c", "d"]),
        Lines(
            testDescription: "characters that end no line", text: "ä\u{2027}ö\u{A8}",
            lines: ["ä\u{2027}ö\u{A8}"]),
        Lines(testDescription: "nothing", text: "", lines: []),
    ])
    func lines(_ row: Lines) async throws {
        let session = ScriptedLoadSource { load in
            load.respond()
            // Byte by byte: the end of a line is found however the content was split.
            for byte in row.text.utf8 { _ = load.client.driverReceivedContent(Data([byte])) }
            load.end()
        }.session()
        let (bytes, _) = try await session.bytes(from: someURL())
        var lines: [String] = []
        for try await line in bytes.lines { lines.append(line) }
        #expect(lines == row.lines)
        session.invalidateAndCancel()
    }
}
