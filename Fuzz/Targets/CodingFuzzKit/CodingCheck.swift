// SPDX-License-Identifier: MIT
package import LupineCoding

/// The check of all targets for content codings. The first two bytes of a fuzzer's input select the division and the limits; the
/// encoded body follows them. So the seeds of the corpora are real bodies after two bytes.
package struct CodingCheck {
    private enum End: Equatable {
        case complete
        case failed(CodingError)
    }

    private struct Run: Equatable {
        var bytes: [UInt8] = []
        var end = End.complete

        /// Whether decoding stopped at the limit of the ratio.
        var hasReachedRatioLimit: Bool {
            if case .failed(.ratioLimit) = end { true } else { false }
        }
    }

    private let codings: [ContentCoding]
    private let body: [UInt8]
    private let limit: ExpansionLimit
    /// The size of the parts of the input, and that of the output buffer.
    private let part: Int
    private let piece: Int

    /// Fails for an input without these two bytes.
    package init?(_ input: [UInt8], _ codings: [ContentCoding]) {
        guard input.count >= 2 else { return nil }
        self.codings = codings
        body = Array(input[2...])
        part = 1 + Int(input[1])
        piece = [1, 7, 64, 4096][Int(input[0] & 3)]
        switch input[0] >> 2 & 3 {
        case 0: limit = ExpansionLimit(bytes: 1 << 16)
        case 1: limit = ExpansionLimit(bytes: 100, ratio: nil)
        case 2: limit = ExpansionLimit(ratio: 20, ratioFloor: 256)
        case _: limit = ExpansionLimit(bytes: 2000, ratio: 50, ratioFloor: 1000)
        }
    }

    /// Traps if an invariant does not hold.
    package func check() {
        let stream = CodingStream(codings, limit: limit)
        let whole = run(through: stream, part: max(body.count, 1), piece: 4096)
        stream.reset()
        let split = run(through: stream, part: part, piece: piece)
        stream.reset()
        let again = run(through: stream, part: max(body.count, 1), piece: 4096)

        precondition(whole == again, "a used stream gives something else: \(whole.end), \(again.end)")
        for run in [whole, split] {
            precondition(run.bytes.count <= limit.bytes ?? .max, "over the absolute limit")
            let (product, overflow) = body.count.multipliedReportingOverflow(by: limit.ratio ?? .max)
            precondition(
                overflow || run.bytes.count <= max(product, limit.ratioFloor), "over the ratio limit")
        }
        let bound = codings.reduce(0) { $0 + ($1 == .br ? 32 << 20 : 48 << 10) }
        precondition(stream.peakMemory <= bound, "over the memory bound: \(stream.peakMemory)")

        if codings.count < 2, codings != [.br], !whole.hasReachedRatioLimit, !split.hasReachedRatioLimit {
            precondition(whole == split, "split: \(split.end), whole: \(whole.end)")
        } else {
            compareLoosely(whole, split)
        }
    }

    /// Compares only results that do not depend on the division. The ratio limit compares the decoded bytes with the bytes read
    /// so far, which depend on the division: a body near the limit may be stopped in one division and not in another. br reads
    /// ahead, and drops the bytes decoded in the call that finds an error; a stack reads ahead by its intermediate buffers. So a
    /// failing body may deliver more bytes in one division than in another, and may fail in another coding. A body within the
    /// ratio must give the same result.
    private func compareLoosely(_ whole: Run, _ split: Run) {
        precondition(
            whole.bytes.starts(with: split.bytes) || split.bytes.starts(with: whole.bytes),
            "the divisions deliver different bytes")
        if whole.hasReachedRatioLimit || split.hasReachedRatioLimit { return }
        precondition(
            (whole.end == .complete) == (split.end == .complete),
            "split: \(split.end), whole: \(whole.end)")
        precondition(whole.end != .complete || whole.bytes == split.bytes, "split delivers less")
    }

    private func run(through stream: CodingStream, part: Int, piece: Int) -> Run {
        var result = Run()
        var buffer = [UInt8](repeating: 0, count: piece)
        do throws(CodingError) {
            var start = 0
            while start < body.count {
                let end = min(start + part, body.count)
                while true {
                    var room = buffer.mutableSpan
                    let step = try stream.decode(body.span.extracting(start..<end), into: &room)
                    start += step.consumed
                    result.bytes += buffer[..<step.produced]
                    if step.status != .needsRoom { break }
                }
                precondition(start == end, "input left over")
            }
            try stream.finish()
        } catch {
            result.end = .failed(error)
        }
        return result
    }
}
