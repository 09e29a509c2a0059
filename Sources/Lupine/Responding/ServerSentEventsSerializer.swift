// SPDX-License-Identifier: MIT

public import Foundation

/// Reads `text/event-stream` (WHATWG HTML §9.2): the handler gets a result for each event.
///
/// A value of settings, to be given to any number of handlers and requests; each handler and attempt reads its stream on
/// its own. Only an `EventStreamPosition` is shared, by those that are given it, and should be given to one request.
///
/// ```swift
/// let position = EventStreamPosition()
/// session.streamRequest(url, interceptor: Interceptor(adapters: [position], retriers: [RetryPolicy()]))
///     .responseStream(using: .serverSentEvents(position: position)) { stream in
///         if let event = stream.value { show(event.data) }
///     }
/// ```
///
/// What exceeds a limit is a failure of its own, and the stream goes on with the next event. Data that has not been ended
/// by an empty line when the stream ends is no event.
public struct ServerSentEventsSerializer: SpanningStreamSerializer {
    /// Why data is not one event.
    public enum Mismatch: Error, Hashable, Sendable {
        /// It holds so many.
        case eventCount(Int)
    }

    /// Where the stream is read up to; nil when nobody keeps it.
    public let position: EventStreamPosition?
    /// The most bytes that a line may have.
    public let maximumLineLength: Int
    /// The most bytes that the data of an event may have.
    public let maximumEventSize: Int

    /// A serializer with these settings.
    ///
    /// - Parameters:
    ///   - position: What keeps the last event's identifier, for a later attempt or request to go on from.
    ///   - maximumLineLength: The most bytes that a line may have; 1 MiB by default.
    ///   - maximumEventSize: The most bytes that the data of an event may have; 4 MiB by default.
    public init(
        position: EventStreamPosition? = nil, maximumLineLength: Int = 1 << 20,
        maximumEventSize: Int = 1 << 22
    ) {
        self.position = position
        self.maximumLineLength = maximumLineLength
        self.maximumEventSize = maximumEventSize
    }

    /// The event in `data`, which has to hold exactly one.
    public func serialize(_ data: Data) throws -> ServerSentEvent {
        var reader = makeReader()
        let results = reader.read(data)
        guard results.count == 1, let result = results.first else {
            throw Mismatch.eventCount(results.count)
        }
        return try result.get()
    }

    /// A reader that begins at the position.
    public func makeReader() -> any DataStreamReader<ServerSentEvent> {
        ServerSentEventsReader(
            lineLimit: maximumLineLength, eventLimit: maximumEventSize, position: position)
    }
}

extension DataStreamSerializer where Self == ServerSentEventsSerializer {
    /// Reads `text/event-stream`.
    public static var serverSentEvents: ServerSentEventsSerializer { ServerSentEventsSerializer() }

    /// Reads `text/event-stream`, with these settings.
    public static func serverSentEvents(
        position: EventStreamPosition? = nil, maximumLineLength: Int = 1 << 20,
        maximumEventSize: Int = 1 << 22
    ) -> ServerSentEventsSerializer {
        ServerSentEventsSerializer(
            position: position, maximumLineLength: maximumLineLength, maximumEventSize: maximumEventSize)
    }
}
