// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The boundaries of chunks, as a stream sees them.
struct ChunkBorderTests {
    static let texts = [#"{"a":1}"#, #"{"b":2}"#, #"{"c":3}"#, #"{"d":4}"#, #"{"e":5}"#]

    private func address(_ stage: PipelineStage, _ chunks: [String]) -> String {
        var wire = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for chunk in chunks { wire += "\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n" }
        stage.origin.script("GET", "/chunks", ScriptPlan([Script([.send(wire + "0\r\n\r\n"), .close])]))
        return stage.url("/chunks")
    }

    @Test(
        "[DS-1, T-7] chunks that arrive together are delivered as separate pieces"
    )
    func pieces() async throws {
        struct Row: Decodable, Sendable { let a: Int }
        try await withPipeline { stage async throws in
            let rows = (1...5).map { "{\"a\":\($0)}" }
            let request = stage.session.streamRequest(address(stage, rows))
            let values = ValueLog<Int>()
            let ended = ValueLog<Int>()
            request.responseStreamDecodable(of: Row.self, on: DispatchQueue(label: "pieces")) { stream in
                if case .stream(.success(let row)) = stream.event { values.add(row.a) }
                if case .complete(let completion) = stream.event {
                    ended.add(completion.error == nil ? 0 : 1)
                }
            }
            #expect(await ended.wait(for: 1) == [0])
            #expect(values.all == [1, 2, 3, 4, 5])
        }
    }

    @Test("[T-7] a request that collects its body receives chunks that arrive together as one piece")
    func collected() async throws {
        try await withPipeline { stage async throws in
            let response = await stage.session.request(address(stage, Self.texts)).answered()
            #expect(response.data == Data(Self.texts.joined().utf8))
            #expect(stage.recorder.count("s10") <= 2)
        }
    }

    @Test("[DS-1] the number of small pieces that wait for a blocked handler is limited")
    func backlog() {
        var backlog = StreamBacklog()
        for _ in 0..<64 { backlog.add(StreamBacklog.weight(of: 1)) }
        #expect(!backlog.isFull)
        backlog.add(StreamBacklog.weight(of: 1))
        #expect(backlog.isFull)
        for _ in 0..<65 { backlog.remove(StreamBacklog.weight(of: 1)) }
        #expect(!backlog.isFull && backlog.count == 0)
        #expect(StreamBacklog.weight(of: 70_000) == 70_000)
    }
}
