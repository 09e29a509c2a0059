// SPDX-License-Identifier: MIT

import Glibc
import LupineOrigin
import Testing

@testable import LupineTransport

/// Downloads over TLS into a file, with many records in each write.
@Suite(.timeLimit(.minutes(10)))
struct SecureDownloadTests {
    /// Sizes around that of one read for a file, and many times that, with each framing: a length, chunks, and the end of the
    /// connection.
    @Test(
        arguments: [0, 1, 65_537, EventLoop.fileBufferSize, EventLoop.fileBufferSize + 1, 700_001],
        ["length", "chunked", "close"])
    func everyByteOfADownloadIsInItsPlace(_ count: Int, _ framing: String) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 8) }
        let head =
            switch framing {
            case "length": "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"
            case "chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            default: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
            }
        var content = Array(head.utf8)
        if framing == "chunked" {
            for start in stride(from: 0, to: count, by: 100_003) {
                let chunk = bytes[start..<min(count, start + 100_003)]
                content += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
            }
            content += Array("0\r\n\r\n".utf8)
        } else {
            content += bytes
        }
        let isLast = framing == "close"
        let plan =
            isLast
            ? ScriptPlan(.expectHead, .send(content), .close)
            : ScriptPlan(.expectHead, .send(content), .expectHead, .reply("second"), .stall)
        try await withSecurePool(SecureStage.serving(["good"], plan)) { stage in
            let path = TemporaryFile.path()
            defer { TemporaryFile.remove(path) }
            let target = FileTarget(try Descriptor.writing(path: path))
            let profile = SecurePool.profile()
            let running = Box<Exchange?>(nil)
            let pauses = Box(0)
            // The sink pauses after every second piece.
            let sink = RecordingSink(
                plan: { .splice(into: target) },
                demand: { _ in
                    pauses.update { $0 += 1 }
                    guard pauses.value.isMultiple(of: 2) else { return .more }
                    Task.detached { running.value?.resume() }
                    return .pause
                })
            let pair = try stage.exchange(profile: profile, sink: sink)
            running.update { $0 = pair.exchange }
            stage.pool.submit(pair.exchange)
            await sink.ended.wait()
            running.update { $0 = nil }
            #expect(sink.failure == nil && sink.log.value.spliced == count)
            let file = try Descriptor.reading(path: path)
            #expect(try file.fileSize() == Int64(count))
            var found: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                var span = buffer.mutableSpan
                guard case .bytes(let readCount) = try file.read(into: &span, at: Int64(found.count)) else {
                    break
                }
                found += buffer[..<readCount]
            }
            let isComplete = found == bytes
            #expect(isComplete)
            if !isLast {
                let second = RecordingSink()
                try await stage.send("/", profile: profile, sink: second)
                #expect(second.text == "second")
            }
        }
    }

    /// The error is that of the file; the rest of the content is not delivered.
    @Test func aDownloadOntoAFullDisk() async throws {
        try await withSecurePool { stage in
            let target = FileTarget(try Descriptor.writing(path: "/dev/full"))
            let sink = RecordingSink(plan: { .splice(into: target) })
            try await stage.send("/bytes/1000000", profile: SecurePool.profile(), sink: sink)
            #expect(sink.failure == .file(Errno(rawValue: ENOSPC)))
            #expect(sink.log.value.spliced == 0)
        }
    }

    /// The content before the cut is in the file.
    @Test func aDownloadThatIsCutShort() async throws {
        let bytes = [UInt8](repeating: 7, count: 400_000)
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 400001\r\n\r\n".utf8)
        let plan = ScriptPlan(.expectHead, .send(head + bytes), .close)
        try await withSecurePool(SecureStage.serving(["good"], plan)) { stage in
            let path = TemporaryFile.path()
            defer { TemporaryFile.remove(path) }
            let target = FileTarget(try Descriptor.writing(path: path))
            let sink = RecordingSink(plan: { .splice(into: target) })
            try await stage.send("/", profile: SecurePool.profile(), sink: sink)
            #expect(
                sink.failure
                    == .http(
                        host: "good.test", port: stage.origin.port,
                        .truncated(.insideBody(received: 400_000, expected: 400_001)))
            )
            #expect(try Descriptor.reading(path: path).fileSize() == 400_000)
        }
    }
}
