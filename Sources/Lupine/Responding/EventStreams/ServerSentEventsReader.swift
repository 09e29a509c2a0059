// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineLoading

/// Interprets an event stream (WHATWG HTML §9.2.6): converts lines to fields, and fields to events. A reader reads the stream of
/// one attempt for one handler.
///
/// If an event exceeds a limit, the reader reports one failure and skips the event up to the empty line that ends it. It ignores
/// the identifier of the event.
package struct ServerSentEventsReader: DataStreamReader {
    /// The maximum length of a line in bytes.
    private let lineLimit: Int
    /// The maximum size of an event's data in bytes.
    private let eventLimit: Int
    private let position: EventStreamPosition?
    private var lines: LineSplitter
    /// The `data` lines, each followed by a line feed.
    private var data = Data()
    /// The value of the current event's `event` field; empty if it has none.
    private var type = ""
    /// The value of the current event's `id` field, if it has one.
    private var eventID: String?
    /// The latest identifier of the stream.
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
        var completedLines: [LineSplitter.Line] = []
        lines.split(data) { completedLines.append($0) }
        return completedLines.compactMap { result(of: $0) }
    }

    /// Returns no events: an event without an empty line at its end is discarded.
    package mutating func finish() -> [Result<ServerSentEvent, any Error>] { [] }

    /// Returns the event that a line completes, or the failure that it causes; nil for any other line.
    private mutating func result(of line: LineSplitter.Line) -> Result<ServerSentEvent, any Error>? {
        switch line {
        case .tooLong: return isSkipping ? nil : skipEvent(.lineTooLong(limit: lineLimit))
        case .complete(let line) where line.isEmpty: return dispatchEvent()
        case .complete where isSkipping: return nil
        case .complete(let line):
            let colon = line.firstIndex(of: UInt8(ascii: ":"))
            // A line that begins with a colon is a comment.
            if colon == line.startIndex { return nil }
            // A line without a colon is the name of a field with an empty value. One space after the colon is not part of the
            // value.
            var value = colon.map { line[($0 + 1)...] } ?? Data()
            if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
            return storeField(line[..<(colon ?? line.endIndex)], value: value)
        }
    }

    /// Stores the value of a field of the current event. Ignores unknown fields. Returns a failure if the event becomes too
    /// large.
    private mutating func storeField(_ name: Data, value: Data) -> Result<ServerSentEvent, any Error>? {
        // The longest known name, `event`, has five bytes. Comparing a long name from the server would be expensive.
        guard name.count <= 5 else { return nil }
        switch String(decoding: name, as: UTF8.self) {
        case "data":
            // The line feed after the last line does not count as data.
            guard data.count + value.count <= eventLimit else {
                return skipEvent(.eventTooLarge(limit: eventLimit))
            }
            data.append(value)
            data.append(UInt8(ascii: "\n"))
        // An unsuitable value does not change the type or the identifier.
        case "event": type = Self.shortText(value) ?? type
        case "id": if !value.contains(0) { eventID = Self.shortText(value) ?? eventID }
        case "retry": setReconnectionTime(value)
        default: break
        }
        return nil
    }

    /// Returns the text of an event type or an identifier; nil if it is too long or has a long run of combining characters. Such
    /// texts are unsuitable, because they are expensive to compare, and because an identifier is sent in a header field.
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

    /// Ends the current event at an empty line, and starts the next. Returns the event, if it has data and was not skipped.
    private mutating func dispatchEvent() -> Result<ServerSentEvent, any Error>? {
        defer {
            // The buffer is reused for the next event, unless this event had more than 64 KiB of data.
            data.removeAll(keepingCapacity: data.count <= 1 << 16)
            type = ""
            isSkipping = false
        }
        // Also removes the identifier of a skipped event, which is ignored.
        let identifier = eventID.take()
        if isSkipping { return nil }
        // Compares identifiers only if the event has an `id`. Otherwise a server could cause many comparisons of long identifiers
        // by sending empty lines.
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
