// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import LupineLoading

struct ContentCollectorTests {
    @Test("[T-7] a limited number of chunks in a turn stays separate, the others are joined")
    func chunks() {
        var gatherer = ContentCollector()
        for _ in 0..<2 {
            for index in 0..<UInt8(ContentCollector.maxSeparateChunks) {
                #expect(gatherer.add(chunk: [index].span) == Data([index]))
            }
            for index: UInt8 in 0..<100 { #expect(gatherer.add(chunk: [index].span) == nil) }
            #expect(gatherer.endTurn() == Data(0..<100))
        }
        #expect(gatherer.endTurn() == nil)
    }

    @Test("[U-7.2] joined chunks are no larger than a piece, and complete")
    func largeChunks() {
        var gatherer = ContentCollector()
        let chunk = [UInt8](repeating: 7, count: 40_000)
        var pieces: [Data] = []
        for _ in 0..<ContentCollector.maxSeparateChunks + 5 {
            if let piece = gatherer.add(chunk: chunk.span) { pieces.append(piece) }
        }
        if let piece = gatherer.endTurn() { pieces.append(piece) }
        #expect(pieces.allSatisfy { $0.count <= ContentCollector.pieceLimit })
        #expect(pieces.map(\.count).reduce(0, +) == 40_000 * (ContentCollector.maxSeparateChunks + 5))
    }
}
