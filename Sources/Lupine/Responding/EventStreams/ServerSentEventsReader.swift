// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineLoading

/// Interprets an event stream (WHATWG HTML §9.2.6): converts fields to events, for one attempt of one handler.
///
/// An event that exceeds a limit is reported once and then skipped up to the empty line that ends it. Its identifier is
/// ignored.
package struct ServerSentEventsReader: DataStreamReader {
    private let lineLimit: Int
    private let eventLimit: Int
    private let position: EventStreamPosition?
    private var lines: LineSplitter
    /// The `data` lines, each followed by a line feed.
    private var data = Data()
    private var type = ""
    /// The `id` of the current event, if it has one.
    private var named: String?
    private var lastEventID: String
    private var reconnectionTime: TimeInterval?
    private var isSkipping = false

    /// Creates a reader for one attempt, which continues from `position` and updates it.
    package init(lineLimit: Int, eventLimit: Int, position: EventStreamPosition?) {
        self.lineLimit = lineLimit
        self.eventLimit = eventLimit
        self.position = position
        lines = LineSplitter(ending: .feedOrReturn, limit: lineLimit)
        lastEventID = position?.lastEventID ?? ""
        reconnectionTime = position?.reconnectionTime
    }

    package mutating func read(_ data: Data) -> [Result<ServerSentEvent, any Error>] {
        var found: [LineSplitter.Piece] = []
        lines.split(data) { found.append($0) }
        return found.compactMap { take($0) }
    }

    /// Returns nothing: an event without an empty line at its end is discarded.
    package mutating func finish() -> [Result<ServerSentEvent, any Error>] { [] }

    private mutating func take(_ piece: LineSplitter.Piece) -> Result<ServerSentEvent, any Error>? {
        switch piece {
        case .tooLong: return isSkipping ? nil : skip(.lineTooLong(limit: lineLimit))
        case .line(let line) where line.isEmpty: return endEvent()
        case .line where isSkipping: return nil
        case .line(let line):
            let colon = line.firstIndex(of: 0x3A)
            if colon == line.startIndex { return nil }
            var value = colon.map { line[($0 + 1)...] } ?? Data()
            if value.first == 0x20 { value = value.dropFirst() }
            return take(field: line[..<(colon ?? line.endIndex)], value: value)
        }
    }

    private mutating func take(field: Data, value: Data) -> Result<ServerSentEvent, any Error>? {
        // No known field name is longer, and comparing a long one of the peer would be expensive.
        guard field.count <= 5 else { return nil }
        switch String(decoding: field, as: UTF8.self) {
        case "data":
            // The line feed after the last line does not count as data.
            guard data.count + value.count <= eventLimit else {
                return skip(.eventTooLarge(limit: eventLimit))
            }
            data.append(value)
            data.append(0x0A)
        case "event": type = Self.name(value) ?? type
        case "id": if !value.contains(0) { named = Self.name(value) ?? named }
        case "retry": setReconnectionTime(value)
        default: break
        }
        return nil
    }

    /// Returns an event type or an identifier. Both are compared, and an identifier is sent in a header field: one that is
    /// too long for that, or has a long run of combining characters, is ignored.
    private static func name(_ value: Data) -> String? {
        guard value.count <= PeerText.longestKept else { return nil }
        let text = String(decoding: value, as: UTF8.self)
        return PeerText(text).canBeKept ? text : nil
    }

    private mutating func setReconnectionTime(_ digits: Data) {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let milliseconds = Int(String(decoding: digits, as: UTF8.self))
        else { return }
        let seconds = TimeInterval(milliseconds) / 1000
        reconnectionTime = seconds
        position?.wait(seconds)
    }

    private mutating func skip(_ error: StreamLimitError) -> Result<ServerSentEvent, any Error> {
        isSkipping = true
        return .failure(error)
    }

    /// Handles the empty line: dispatches the event, if there is one.
    private mutating func endEvent() -> Result<ServerSentEvent, any Error>? {
        defer {
            data.removeAll(keepingCapacity: data.count <= 1 << 16)
            type = ""
            isSkipping = false
        }
        let name = named.take()
        if isSkipping { return nil }
        // Compared only when the event had an `id`: an identifier may be long, and empty lines are cheap to send.
        if let name, !lastEventID.utf8.elementsEqual(name.utf8) {
            lastEventID = name
            position?.reach(name)
        }
        if data.isEmpty { return nil }
        return .success(
            ServerSentEvent(
                type: type.isEmpty ? "message" : type,
                data: String(decoding: data.dropLast(), as: UTF8.self), lastEventID: lastEventID,
                reconnectionTime: reconnectionTime))
    }
}
