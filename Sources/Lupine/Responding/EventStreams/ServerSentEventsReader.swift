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
    /// The value of the current event's `id` field, if it has one.
    private var eventID: String?
    private var lastEventID: String
    private var reconnectionTime: TimeInterval?
    /// Whether the rest of the current event is ignored.
    private var isSkipping = false

    /// Creates a reader for one attempt, which continues from `position` and updates it.
    package init(lineLimit: Int, eventLimit: Int, position: EventStreamPosition?) {
        self.lineLimit = lineLimit
        self.eventLimit = eventLimit
        self.position = position
        lines = LineSplitter(ending: .lineFeedOrReturn, limit: lineLimit)
        lastEventID = position?.lastEventID ?? ""
        reconnectionTime = position?.reconnectionTime
    }

    package mutating func read(_ data: Data) -> [Result<ServerSentEvent, any Error>] {
        var completed: [LineSplitter.Line] = []
        lines.split(data) { completed.append($0) }
        return completed.compactMap { handle($0) }
    }

    /// Returns no events: an event without an empty line at its end is discarded.
    package mutating func finish() -> [Result<ServerSentEvent, any Error>] { [] }

    /// Returns the event that a line completes, or the failure that it causes.
    private mutating func handle(_ line: LineSplitter.Line) -> Result<ServerSentEvent, any Error>? {
        switch line {
        case .tooLong: return isSkipping ? nil : skipEvent(.lineTooLong(limit: lineLimit))
        case .complete(let line) where line.isEmpty: return dispatchEvent()
        case .complete where isSkipping: return nil
        case .complete(let line):
            let colon = line.firstIndex(of: UInt8(ascii: ":"))
            // A line that begins with a colon is a comment.
            if colon == line.startIndex { return nil }
            var value = colon.map { line[($0 + 1)...] } ?? Data()
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            return handleField(line[..<(colon ?? line.endIndex)], value: value)
        }
    }

    /// Stores the value of a field. Returns a failure if the event becomes too large.
    private mutating func handleField(_ name: Data, value: Data) -> Result<ServerSentEvent, any Error>? {
        // No known field name is longer, and comparing a long name from the server would be expensive.
        guard name.count <= 5 else { return nil }
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            // The line feed after the last line does not count as data.
            guard data.count + value.count <= eventLimit else {
                return skipEvent(.eventTooLarge(limit: eventLimit))
            }
            data.append(value)
            data.append(UInt8(ascii: "\n"))
        case "event": type = Self.shortText(value) ?? type
        case "id": if !value.contains(0) { eventID = Self.shortText(value) ?? eventID }
        case "retry": setReconnectionTime(value)
        default: break
        }
        return nil
    }

    /// Returns the text of an event type or an identifier; nil if it is too long or has a long run of combining characters. Such
    /// a value is ignored, because types and identifiers are compared, and an identifier is sent in a header field.
    private static func shortText(_ value: Data) -> String? {
        guard value.count <= PeerText.maxStoredLength else { return nil }
        let text = String(decoding: value, as: UTF8.self)
        return PeerText(text).canBeKept ? text : nil
    }

    /// Stores the value of a `retry` field: a number of milliseconds. Ignores a value with other characters than digits.
    private mutating func setReconnectionTime(_ digits: Data) {
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let milliseconds = Int(String(decoding: digits, as: UTF8.self))
        else { return }
        let seconds = TimeInterval(milliseconds) / 1000
        reconnectionTime = seconds
        position?.setReconnectionTime(seconds)
    }

    /// Ignores the rest of the current event, and returns the failure that reports it.
    private mutating func skipEvent(_ error: StreamLimitError) -> Result<ServerSentEvent, any Error> {
        isSkipping = true
        return .failure(error)
    }

    /// Handles the empty line: returns the event, if there is one, and starts the next.
    private mutating func dispatchEvent() -> Result<ServerSentEvent, any Error>? {
        defer {
            // The buffer of a usual event is reused; that of an event of more than 64 KiB is freed.
            data.removeAll(keepingCapacity: data.count <= 1 << 16)
            type = ""
            isSkipping = false
        }
        let identifier = eventID.take()
        if isSkipping { return nil }
        // Compared only when the event had an `id`: an identifier may be long, and empty lines are cheap to send.
        if let identifier, !lastEventID.utf8.elementsEqual(identifier.utf8) {
            lastEventID = identifier
            position?.setLastEventID(identifier)
        }
        if data.isEmpty { return nil }
        return .success(
            ServerSentEvent(
                type: type.isEmpty ? "message" : type,
                data: String(decoding: data.dropLast(), as: UTF8.self), lastEventID: lastEventID,
                reconnectionTime: reconnectionTime))
    }
}
