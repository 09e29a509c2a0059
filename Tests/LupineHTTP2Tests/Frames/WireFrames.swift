// SPDX-License-Identifier: MIT

import LupineHTTP2

/// Legal and illegal frames for tests, and a log of what a reader returns for them.
enum WireFrames {
    /// Returns a frame of any type, flags and payload; `length` overrides the length in its header.
    static func frame(
        _ type: UInt8, _ flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), type, flags]
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) } + payload
    }

    /// An empty SETTINGS frame.
    static let settings = frame(4)

    /// Returns the octets that the peer of a role sends first.
    static func opening(to role: HTTP2Role) -> [UInt8] {
        (role == .server ? FrameReader.clientPreface : []) + settings
    }

    /// Returns one line for each event that `reader` reads from pieces of input, one for the content of each frame, and one for
    /// the error, if there is one.
    static func log(of pieces: [[UInt8]], by reader: FrameReader) -> [String] {
        var reader = reader
        var lines: [String] = []
        var content: [UInt8] = []
        for piece in pieces {
            var unread = piece[...]
            while true {
                let event: FrameEvent
                let consumed: Int
                do throws(HTTP2Error) { (event, consumed) = try reader.next(unread.span) } catch {
                    return lines + ["\(error.code): \(error)"]
                }
                if case .content(_, let range) = event {
                    content += unread.dropFirst(range.lowerBound).prefix(range.count)
                }
                unread = unread.dropFirst(consumed)
                if event == .needMore { break }
                if case .dataEnded = event, !content.isEmpty {
                    lines.append("content '\(Octets.text(content))'")
                    content = []
                }
                if let line = text(of: event) { lines.append(line) }
            }
            if !unread.isEmpty { lines.append("\(unread.count) octets were left") }
        }
        return lines
    }

    /// Returns the distinct logs of the whole input, of the input cut in two at each octet, and of single octets. If all agree,
    /// the set has one element.
    static func logsAtEveryCut(of wire: [UInt8], by reader: FrameReader) -> Set<[String]> {
        var all: Set<[String]> = [log(of: [wire], by: reader), log(of: wire.map { [$0] }, by: reader)]
        // Long inputs are cut only near both ends.
        let cuts = wire.indices.filter { $0 < 200 || $0 > wire.count - 200 }
        for cut in cuts {
            all.insert(log(of: [Array(wire[..<cut]), Array(wire[cut...])], by: reader))
        }
        return all
    }

    private static func text(of event: FrameEvent) -> String? {
        switch event {
        case .needMore, .content: nil
        case .dataBegan(let stream, let count): "DATA \(stream) of \(count)"
        case .dataEnded(let stream, let endsStream):
            "end of DATA \(stream)" + (endsStream ? ", of the stream" : "")
        case .headers(let stream, let block, let endsStream):
            "HEADERS \(stream) \(text(of: block))" + (endsStream ? ", end of the stream" : "")
        case .pushPromise(let stream, let promised, let block):
            "PUSH_PROMISE \(stream) of \(promised) \(text(of: block))"
        case .priority(let stream): "PRIORITY \(stream)"
        case .reset(let stream, let code): "RST_STREAM \(stream) \(code)"
        case .settings(let settings):
            "SETTINGS " + settings.map { "\($0.identifier)=\($0.value)" }.joined(separator: " ")
        case .settingsAcknowledged: "SETTINGS acknowledged"
        case .ping(let octets): "PING \(octets)"
        case .pingAcknowledged(let octets): "PING \(octets) acknowledged"
        case .goAway(let last, let code, let debug): "GOAWAY \(last) \(code) \(text(of: debug))"
        case .windowUpdate(let stream, let increment): "WINDOW_UPDATE \(stream) +\(increment)"
        case .priorityUpdate(let stream, let value): "PRIORITY_UPDATE \(stream) \(text(of: value))"
        case .ignored(let type, let stream): "ignored \(type) on \(stream)"
        case .streamError(let stream, let error): "stream \(stream): \(error.code): \(error)"
        }
    }

    private static func text(of octets: [UInt8]) -> String {
        octets.count > 40 ? "of \(octets.count)" : "'\(Octets.text(octets))'"
    }
}
