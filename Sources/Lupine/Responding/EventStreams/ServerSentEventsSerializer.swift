// SPDX-License-Identifier: MIT

public import Foundation

/// Parses `text/event-stream` (WHATWG HTML §9.2): the handler receives a result for each event.
///
/// The serializer contains only settings, so it can be used for any number of handlers and requests. Each handler and attempt
/// reads its stream independently. An exception is `position`: all handlers that use the serializer update the same position, so
/// a serializer with a position should be used for one handler only.
///
/// ```swift
/// let position = EventStreamPosition()
/// session.streamRequest(url, interceptor: Interceptor(adapters: [position], retriers: [RetryPolicy()]))
///     .responseStream(using: .serverSentEvents(position: position)) { stream in
///         if let event = stream.value { show(event.data) }
///     }
/// ```
///
/// An event that exceeds a limit is reported as a failure, and the stream continues with the next event. If the stream ends
/// without an empty line after the last event, that event is incomplete and is discarded.
public struct ServerSentEventsSerializer: SpanningStreamSerializer {
    /// The reason why data is not exactly one event.
    public enum Mismatch: Error, Hashable, Sendable {
        /// The data contains this number of events.
        case eventCount(Int)
    }

    /// The position from which the readers start, and which they update; nil for none.
    public let position: EventStreamPosition?
    /// The maximum length of a line in bytes.
    public let maximumLineLength: Int
    /// The maximum size of an event's data in bytes.
    public let maximumEventSize: Int

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - position: Stores the identifier of the last event, after which a later attempt or request continues.
    ///   - maximumLineLength: The maximum length of a line in bytes; 1 MiB by default.
    ///   - maximumEventSize: The maximum size of an event's data in bytes; 4 MiB by default.
    public init(
        position: EventStreamPosition? = nil, maximumLineLength: Int = 1 << 20,
        maximumEventSize: Int = 1 << 22
    ) {
        self.position = position
        self.maximumLineLength = maximumLineLength
        self.maximumEventSize = maximumEventSize
    }

    /// Returns the event in `data`, which must contain exactly one.
    public func serialize(_ data: Data) throws -> ServerSentEvent {
        var reader = makeReader()
        let results = reader.read(data)
        guard results.count == 1, let result = results.first else {
            throw Mismatch.eventCount(results.count)
        }
        return try result.get()
    }

    /// Returns a reader that starts at the position.
    public func makeReader() -> any DataStreamReader<ServerSentEvent> {
        ServerSentEventsReader(
            lineLimit: maximumLineLength, eventLimit: maximumEventSize, position: position)
    }
}

extension DataStreamSerializer where Self == ServerSentEventsSerializer {
    /// A serializer of `text/event-stream`.
    public static var serverSentEvents: ServerSentEventsSerializer { ServerSentEventsSerializer() }

    /// Returns a serializer of `text/event-stream`.
    public static func serverSentEvents(
        position: EventStreamPosition? = nil, maximumLineLength: Int = 1 << 20,
        maximumEventSize: Int = 1 << 22
    ) -> ServerSentEventsSerializer {
        ServerSentEventsSerializer(
            position: position, maximumLineLength: maximumLineLength, maximumEventSize: maximumEventSize)
    }
}
