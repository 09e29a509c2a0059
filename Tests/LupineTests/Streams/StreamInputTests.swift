// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A stream's content, read as an `InputStream`.
struct StreamInputTests {
    /// Passes a stream to the thread that reads it.
    private struct Carried: @unchecked Sendable {
        let stream: InputStream
    }

    /// Reads to the end in steps of `size` bytes, on a thread that may block. Returns nil if reading fails.
    private func read(_ stream: InputStream, by size: Int = 4096) async -> [UInt8]? {
        let carried = Carried(stream: stream)
        return await withCheckedContinuation { continuation in
            DispatchQueue(label: "reader").async {
                carried.stream.open()
                continuation.resume(returning: Self.rest(of: carried.stream, by: size))
                carried.stream.close()
            }
        }
    }

    private static func rest(of stream: InputStream, by size: Int) -> [UInt8]? {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            let count = unsafe stream.read(&buffer, maxLength: size)
            if count < 0 { return nil }
            if count == 0 { return all }
            all += buffer.prefix(count)
        }
    }

    @Test(
        "[DS-20] every byte arrives in order, for all sizes of the buffer and of the reads",
        arguments: [1, 1024, 1 << 20], [1000, 70_000])
    func whole(capacity: Int, size: Int) async throws {
        for testedHTTP in TestedHTTP.allCases {
            try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) {
                stage async throws in
                let bytes = octets(300_000)
                stage.origin.route("GET", "/octets") { _ throws(Refusal) in
                    try OriginResponse(200, "application/octet-stream", bytes)
                }
                let request = stage.session.streamRequest(stage.url("/octets"))
                let stream = try #require(request.asInputStream(bufferSize: capacity))
                #expect(!request.isInitialized, "it is resumed in any case")
                #expect(stream.streamStatus == .notOpen)
                let isWhole = await read(stream, by: size) == bytes
                #expect(isWhole)
                await stage.recorder.heard.wait(untilRecorded: "r17")
                #expect(request.error == nil && request.isFinished)
            }
        }
    }

    @Test(
        "[DS-20] the transfer is paused while the stream is not read, and continues with the next read",
        arguments: TestedHTTP.allCases)
    func paused(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(.narrow, over: testedHTTP) { stage async throws in
            let count = 32 << 20
            stage.origin.serve("/long", count)
            stage.origin.serve("/other", count / 4)
            let request = stage.session.streamRequest(stage.url("/long"))
            let stream = try #require(request.asInputStream())
            let other = await stage.session.request(stage.url("/other")).answered()
            #expect(other.data?.count == count / 4)
            #expect(stage.origin.counts.bytesSent - count / 4 < count / 4 * 3 && !request.isFinished)
            #expect(await read(stream, by: 1 << 16)?.count == count)
        }
    }

    @Test(
        "[DS-20] closing or releasing the stream lets the request continue", arguments: [true, false],
        TestedHTTP.allCases)
    func closed(isClosed: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            stage.origin.serve("/long", 16 << 20)
            let request = stage.session.streamRequest(stage.url("/long"))
            do {
                let stream = try #require(request.asInputStream())
                stream.open()
                var byte: UInt8 = 0
                if isClosed {
                    #expect(unsafe stream.read(&byte, maxLength: 1) == 1)
                    stream.close()
                    #expect(unsafe stream.read(&byte, maxLength: 1) == -1)
                }
            }
            await stage.recorder.heard.wait(untilRecorded: "r17")
            #expect(request.error == nil)
        }
    }

    @Test(
        "[DS-20] a second call ends the first stream, whose bytes can still be read; the second gets later bytes",
        arguments: TestedHTTP.allCases
    )
    func replaced(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            stage.origin.answer(
                "GET", "/pieces",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("rest"),
                    .send("def"), .close))
            let request = stage.session.streamRequest(stage.url("/pieces"))
            let first = try #require(request.asInputStream())
            await stage.recorder.heard.wait(untilRecorded: "s10")
            await stage.settle()
            let second = try #require(request.asInputStream())
            #expect(await read(first) == Array("abc".utf8))
            stage.origin.gate("rest").open()
            #expect(await read(second) == Array("def".utf8))
        }
    }

    @Test("[DS-20] handlers get the same pieces as the stream", arguments: TestedHTTP.allCases)
    func withHandlers(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(PipelineSetUp(startsImmediately: false), over: testedHTTP) {
            stage async throws in
            let request = stage.session.streamRequest(stage.url("/range/1000"))
            let pieces = ValueLog<Data>()
            let ends = ValueLog<String>()
            request.responseStream(on: DispatchQueue(label: "handler")) { stream in
                if let value = stream.value { pieces.add(value) }
                if stream.completion != nil { ends.add("end") }
            }
            let stream = try #require(request.asInputStream())
            let bytes = await read(stream)
            #expect(bytes?.count == 1000)
            await ends.wait(for: 1)
            #expect(Array(pieces.all.joined()) == bytes)
        }
    }

    @Test(
        "[DS-10] the stream ends before the request's completion is reported", arguments: [true, false],
        TestedHTTP.allCases)
    func endsFirst(isCancelled: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            stage.origin.answer(
                "GET", "/held",
                ScriptPlan(
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .waitForSignal("rest"),
                    .send("def"), .close))
            let request = stage.session.streamRequest(stage.url("/held"))
            let carried = Carried(stream: try #require(request.asInputStream()))
            carried.stream.open()
            let statuses = ValueLog<Stream.Status>()
            async let end = request.heard(using: PassthroughStreamSerializer()) { stream in
                if stream.completion != nil {
                    _ = Self.rest(of: carried.stream, by: 100)
                    statuses.add(carried.stream.streamStatus)
                }
            }
            await stage.recorder.heard.wait(untilRecorded: "s10")
            if isCancelled { request.cancel() } else { stage.origin.gate("rest").open() }
            #expect(brief(await end.completion.error) == (isCancelled ? "explicit" : "nil"))
            #expect(statuses.all == [.atEnd])
        }
    }

    @Test("[DS-20] after the request has finished a new stream is empty", arguments: TestedHTTP.allCases)
    func late(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = stage.session.streamRequest(stage.url("/range/10"))
            _ = await request.heard(using: PassthroughStreamSerializer())
            let stream = try #require(request.asInputStream())
            #expect(await read(stream) == [])
        }
    }
}
