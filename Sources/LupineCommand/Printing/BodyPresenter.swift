// SPDX-License-Identifier: MIT

internal import Foundation

/// Puts a body on the standard output: as it is into a pipe or a file, and for people with care.
///
/// For people JSON is painted once it is there as a whole, text goes out as it comes, and what is no text is not put on a
/// terminal. A value, used by one transfer.
struct BodyPresenter {
    /// How content is treated.
    enum Manner: Hashable, Sendable {
        /// Byte for byte.
        case verbatim
        /// For people: JSON gets line ends or not, colours as the style has them.
        case pretty(breaksLines: Bool)
        /// For people, each line for itself and at once.
        case lines(breaksLines: Bool)
    }

    private enum Phase {
        case beginning
        case passing
        case collecting(Data)
        case splitting(Data)
        case skipping(Int)
    }

    /// The longest JSON that is painted; a longer one goes out as it is.
    static let longestPainted = 16 << 20

    let sink: Surroundings.Sink
    let manner: Manner
    let style: Style
    let isJSON: Bool
    private var phase = Phase.beginning
    private var endsInLine = true

    init(sink: Surroundings.Sink, manner: Manner, style: Style, type: String?) {
        self.sink = sink
        self.manner = manner
        self.style = style
        let media = (type ?? "").split(separator: ";").first.map { $0.lowercased() } ?? ""
        isJSON = media.hasSuffix("json") || media.hasSuffix("ndjson") || media.hasSuffix("jsonl")
    }

    /// The next piece. Throws what the sink throws.
    mutating func take(_ data: Data) throws {
        switch phase {
        case .beginning: try begin(data)
        case .passing: try pass(data)
        case .collecting(var all):
            phase = .passing
            all.append(data)
            if all.count > Self.longestPainted { try pass(all) } else { phase = .collecting(all) }
        case .splitting(var rest):
            rest.append(data)
            phase = .splitting(try split(rest))
        case .skipping(let count): phase = .skipping(count + data.count)
        }
    }

    private mutating func begin(_ data: Data) throws {
        if manner == .verbatim, !sink.isTerminal {
            phase = .passing
            return try pass(data)
        }
        if sink.isTerminal, Self.isBinary(data) {
            phase = .skipping(data.count)
            return
        }
        switch manner {
        case .verbatim: phase = .passing
        case .pretty: phase = isJSON ? .collecting(Data()) : .passing
        case .lines: phase = isJSON ? .splitting(Data()) : .passing
        }
        try take(data)
    }

    private mutating func pass(_ data: Data) throws {
        guard !data.isEmpty else { return }
        endsInLine = data.last == 0x0A
        try sink.write(data)
    }

    private mutating func split(_ data: Data) throws -> Data {
        var rest = data[...]
        while let end = rest.firstIndex(of: 0x0A) {
            try paint(Data(rest[..<end]))
            rest = rest[(end + 1)...]
        }
        return Data(rest)
    }

    private mutating func paint(_ data: Data) throws {
        let breaks: Bool
        switch manner {
        case .verbatim: breaks = false
        case .pretty(let breaksLines), .lines(let breaksLines): breaks = breaksLines
        }
        let painter = JSONPainter(style: style, breaksLines: breaks)
        guard let text = painter.painted([UInt8](data)) else {
            try pass(data)
            if case .lines = manner { try pass(Data([0x0A])) }
            return
        }
        try pass(Data((text + "\n").utf8))
    }

    /// The body is over.
    mutating func finish() throws {
        switch phase {
        case .beginning: return
        case .passing: break
        case .collecting(let all): try paint(all)
        case .splitting(let rest): if !rest.isEmpty { try paint(rest) }
        case .skipping(let count):
            let note =
                "(\(ByteText.size(Int64(count))) that are no text: save them with -o FILE, or use a pipe)\n"
            try sink.write(Data(style.paint(note, .faint).utf8))
            return
        }
        if sink.isTerminal, !endsInLine { try sink.write(Data([0x0A])) }
    }

    /// Whether it is no text: a NUL, or bytes that are not UTF-8 but for a character that is cut at the end.
    static func isBinary(_ data: Data) -> Bool {
        let head = data.prefix(4096)
        if head.contains(0) { return true }
        for cut in 0..<min(4, head.count + 1)
        where String(validating: head.dropLast(cut), as: UTF8.self) != nil {
            return false
        }
        let odd = head.filter { $0 < 0x20 && ![0x09, 0x0A, 0x0D, 0x1B, 0x0C].contains($0) }
        return odd.count * 50 > head.count
    }
}
