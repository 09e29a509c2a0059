// SPDX-License-Identifier: MIT

import LupineHTTP2

/// What an end makes of a step: its connection ends, streams end, or neither.
struct Verdict: Hashable, CustomStringConvertible {
    /// What a step means to one stream, or to the connection.
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

    /// What is to be compared: the connection's end says everything.
    var outcome: Outcome {
        if let connection { return .connection(connection) }
        return streams.min { $0.key < $1.key }.map { .stream($0.value) } ?? .goesOn
    }

    var description: String { "\(outcome)" }
}

/// Reads what an end sends, for the verdicts in it.
struct VerdictReader {
    private var reader: FrameReader

    /// A reader for what that role sends.
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

/// What has come on each stream, in lines that are the same for both ends.
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

    /// The lines of a stream, with the content that stands behind them all.
    mutating func finished(_ stream: StreamID) -> [String] {
        add("-", on: stream)
        return lines[stream] ?? []
    }

    var streams: Set<StreamID> { Set(lines.keys).union(content.keys) }
}
