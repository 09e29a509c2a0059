// SPDX-License-Identifier: MIT

internal import LupineCoding
internal import LupineOrigin
internal import LupineTestKit

/// The parts of the responses to a trial: heads, pieces, cuts.
struct ChaosReply {
    let trial: ChaosTrial
    let content: [UInt8]
    private var random: SeededRandom

    init(_ trial: ChaosTrial) {
        self.trial = trial
        content = trial.content
        random = trial.random
    }

    /// Returns the trial's next random number.
    mutating func chance(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    // MARK: heads

    /// Returns a head with the common fields, followed by these.
    func head(_ fields: String, status: String = "200 OK", lineEnd: String = "\r\n") -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status)", "X-Chaos: \(trial.name)", "Content-Type: \(trial.form.contentType)"]
            + fields.split(separator: "\n").map(String.init)
        return Array((lines + ["", ""]).joined(separator: lineEnd).utf8)
    }

    /// Returns a head with that `Content-Length`.
    func head(length: Int) -> [UInt8] { head("Content-Length: \(length)") }

    /// The correct response.
    var plain: [UInt8] { head(length: content.count) + content }

    /// Returns an incomplete part of the content.
    mutating func part() -> [UInt8] { Array(content.prefix(chance(0...content.count - 1))) }

    // MARK: chunks

    static let chunkedField = "Transfer-Encoding: chunked"

    /// Returns one chunk.
    func chunk(_ bytes: some Collection<UInt8>, extension text: String = "") -> [UInt8] {
        Array((String(bytes.count, radix: 16) + text + "\r\n").utf8) + bytes + Array("\r\n".utf8)
    }

    /// Returns octets in chunks of varied sizes, some with an extension; without the last chunk.
    mutating func chunks(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for piece in pieces(bytes, atMost: 8) {
            result += chunk(piece, extension: chance(0...3) == 0 ? ";name=\"a;b\"" : "")
        }
        return result
    }

    /// Splits the octets into pieces, none of them empty.
    mutating func pieces(_ bytes: [UInt8], atMost count: Int) -> [ArraySlice<UInt8>] {
        var cuts = Set((1..<count).map { _ in chance(0...bytes.count) })
        cuts.formUnion([0, bytes.count])
        let sorted = cuts.sorted()
        return zip(sorted, sorted.dropFirst()).map { bytes[$0..<$1] }
    }

    // MARK: codings

    /// Returns the content compressed with gzip.
    func zipped() throws(CodingError) -> [UInt8] {
        let encoder = try DeflateEncoder(.gzip)
        var result: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 16 << 10)
        var taken = 0
        while true {
            let isOver = taken == content.count
            var span = room.mutableSpan
            let progress =
                isOver
                ? encoder.finish(into: &span) : encoder.encode(content.span.extracting(taken...), into: &span)
            taken += progress.consumed
            result += room.prefix(progress.produced)
            if isOver, progress.status == .done { return result }
        }
    }
}
