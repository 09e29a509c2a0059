// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import LupineCoding

/// Entries for the library's content decoding. Goal: 95 % of the C loop's throughput.
enum Decoding {
    /// Returns an entry that decodes `packed` into pieces: with one stream that is reset after each body, or with a new stream
    /// for every body.
    static func entry(_ coding: ContentCoding, _ packed: [UInt8], length: Int, reuse: Bool) -> Entry {
        let name = reuse ? "LupineCoding (reset)" : "LupineCoding (fresh)"
        return Entry(
            name, isOurs: true, goals: Goals(ratio: reuse ? 1 / 0.95 : nil),
            .loop { times in
                var output = [UInt8](repeating: 0, count: CodingGroup.piece)
                let reused = CodingStream([coding])
                var sum: UInt64 = 0
                for _ in 0..<times {
                    let stream = reuse ? reused : CodingStream([coding])
                    sum &+= try decode(packed, stream, &output)
                    try stream.finish()
                    stream.reset()
                }
                try WrongResult.check(name, sum, each: UInt64(length), times: times)
            })
    }

    private static func decode(
        _ packed: [UInt8], _ stream: CodingStream, _ output: inout [UInt8]
    ) throws(CodingError) -> UInt64 {
        var consumed = 0
        var sum: UInt64 = 0
        while true {
            var room = output.mutableSpan
            let step = try stream.decode(packed.span.extracting(consumed...), into: &room)
            consumed += step.consumed
            sum &+= UInt64(step.produced)
            if step.status != .needsRoom { return sum }
        }
    }
}
