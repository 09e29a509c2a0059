// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Tests of which pieces a delegate gets of a chunked body.
struct ChunkTests {
    /// A delegate that records the pieces, and lets the test wait for the end.
    private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
        let pieces = LockedValue<[Data]>([])
        let ended = Gate()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            pieces.update { $0.append(data) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) { ended.open() }
    }

    static let texts = [#"{"a":1}"#, #"{"b":2}"#, #"{"c":3}"#, #"{"d":4}"#, #"{"e":5}"#]

    static func chunked(_ chunks: [[UInt8]], _ fields: String = "") -> [UInt8] {
        var wire = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(fields)\r\n".utf8)
        for chunk in chunks {
            wire += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8)
        }
        return wire + Array("0\r\n\r\n".utf8)
    }

    /// Returns the pieces that a delegate gets of what an origin sends at once.
    private func pieces(_ wire: [UInt8], collects: Bool = false) async throws -> [Data] {
        let origin = try LupineOrigin.Origin.start()
        origin.script("GET", "/chunks", ScriptPlan(.send(wire), .close))
        let listener = Listener()
        let session = URLSession(
            configuration: DriverLoad.configuration(), delegate: listener, delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: origin.url + "/chunks")))
        if collects { task.collectContent() }
        task.resume()
        await listener.ended.wait()
        #expect(task.error == nil)
        session.invalidateAndCancel()
        await origin.shutdown()
        return listener.pieces.value
    }

    @Test("[T-7] each chunk is a piece, also if several arrive together")
    func borders() async throws {
        let pieces = try await pieces(Self.chunked(Self.texts.map { Array($0.utf8) }))
        #expect(pieces.map { String(decoding: $0, as: UTF8.self) } == Self.texts)
    }

    @Test("[T-7] decoded or collected content is not delivered by chunk")
    func joined() async throws {
        let text = String(repeating: "All work and no play. ", count: 50)
        let coded = try CodedBodies.gzip(Array(text.utf8))
        let wire = Self.chunked(coded.map { [$0] }, "Content-Encoding: gzip\r\n")
        let decoded = try await pieces(wire)
        #expect(
            String(decoding: Data(decoded.joined()), as: UTF8.self) == text && decoded.count < coded.count)
        let chunks = (0..<500).map { [UInt8(truncatingIfNeeded: $0)] }
        let collected = try await pieces(Self.chunked(chunks), collects: true)
        #expect(Data(collected.joined()) == Data(chunks.joined()) && collected.count < 100)
    }

    @Test("[T-7] many chunks of one octet are joined after the first ones of each read")
    func tinyChunks() async throws {
        let octets = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let pieces = try await pieces(Self.chunked(octets.map { [$0] }))
        #expect(Data(pieces.joined()) == Data(octets))
        #expect(pieces.count > 1 && pieces.count < octets.count / 4)
    }
}
