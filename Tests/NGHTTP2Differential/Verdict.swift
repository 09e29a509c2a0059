// SPDX-License-Identifier: MIT

import LupineHTTP2

/// The outcome of a step at one end: its connection ends, streams end, or neither.
struct Verdict: Hashable, CustomStringConvertible {
    /// The outcome of a step for one stream, or for the connection.
    enum Outcome: Hashable, CustomStringConvertible {
        case goesOn
        case stream(HTTP2ErrorCode)
        case connection(HTTP2ErrorCode)

        var description: String {
            switch self {
            case .goesOn: "goes on"
            case .stream(let code): "stream \(code)"
            case .connection(let code): "connection \(code)"
            }
        }
    }

    var connection: HTTP2ErrorCode?
    var streams: [StreamID: HTTP2ErrorCode] = [:]

    /// The outcome to be compared: the end of the connection outweighs those of streams.
    var outcome: Outcome {
        if let connection { return .connection(connection) }
        return streams.min { $0.key < $1.key }.map { .stream($0.value) } ?? .goesOn
    }

    var description: String { "\(outcome)" }
}

/// Reads the frames that an end sends, and extracts the verdicts.
struct VerdictReader {
    private var reader: FrameReader

    /// Creates a reader for the frames that a role sends.
    init(of role: HTTP2Role) {
        reader = FrameReader(role == .client ? .server : .client)
        reader.maximumFrameSize = 1 << 24
    }

    mutating func read(_ octets: [UInt8], into verdict: inout Verdict) throws(HTTP2Error) {
        var rest = octets[...]
        while true {
            let (event, consumed) = try reader.next(rest.span)
            rest = rest.dropFirst(consumed)
            switch event {
            case .needMore: return
            case .reset(let stream, let code): verdict.streams[stream] = code
            case .goAway(_, let code, _): if code != .noError { verdict.connection = code }
            default: continue
            }
        }
    }
}

/// The events of each stream, as lines that are comparable between the two ends.
struct StreamLogs: Hashable {
    private(set) var lines: [StreamID: [String]] = [:]
    private var content: [StreamID: [UInt8]] = [:]

    mutating func content(_ octets: [UInt8], on stream: StreamID) { content[stream, default: []] += octets }

    mutating func add(_ line: String, on stream: StreamID) {
        if let octets = content[stream], !octets.isEmpty {
            lines[stream, default: []].append("content of \(octets.count): \(octets.hashValue)")
        }
        content[stream] = nil
        lines[stream, default: []].append(line)
    }

    /// Returns the lines of a stream, including the content after the last one.
    mutating func finished(_ stream: StreamID) -> [String] {
        add("-", on: stream)
        return lines[stream] ?? []
    }

    var streams: Set<StreamID> { Set(lines.keys).union(content.keys) }
}
