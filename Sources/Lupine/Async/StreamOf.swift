// SPDX-License-Identifier: MIT

/// Events of a request as an asynchronous sequence. Created by the library only.
///
/// Events are buffered from the creation of the sequence on, and an iteration removes them. Only one iteration is supported: a
/// second iteration returns the events that the first one has not removed. An iteration ends when the last copy of its iterator
/// is released, when its task is cancelled, or when the request has no more events.
public struct StreamOf<Element>: AsyncSequence {
    public typealias AsyncIterator = Iterator
    /// Says how many events are buffered, and which ones are dropped if there are more.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

    /// A buffered event.
    struct Entry {
        let element: Element
        /// Subtracts the event's bytes from the count of buffered bytes, when the event leaves the buffer; nil if they are not
        /// counted.
        let bytes: BufferedByteCount.ElementBytes?
    }

    private let stream: AsyncStream<Entry>
    private let termination: StreamTermination
    private let bufferedBytes: BufferedByteCount?

    /// Creates a sequence.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: How many events are buffered, and which are dropped.
    ///   - bufferedBytes: Counts the bytes of the buffered events; nil if they are not counted.
    ///   - onTermination: Called once, if an iteration ends before `StreamSource.finish` was called.
    ///   - source: Called once, before the initializer returns, with the object that adds events to the sequence.
    init(
        bufferingPolicy: BufferingPolicy, bufferedBytes: BufferedByteCount? = nil,
        onTermination: (@Sendable () -> Void)? = nil, source: (StreamSource<Element>) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Entry.self, bufferingPolicy: Self.entryPolicy(bufferingPolicy))
        self.stream = stream
        self.bufferedBytes = bufferedBytes
        termination = StreamTermination {
            continuation.finish()
            bufferedBytes?.endIteration()
            onTermination?()
        }
        source(
            StreamSource(continuation: continuation, termination: termination, bufferedBytes: bufferedBytes))
    }

    /// Converts the policy to one for `Entry` elements.
    private static func entryPolicy(
        _ policy: BufferingPolicy
    ) -> AsyncStream<Entry>.Continuation.BufferingPolicy {
        switch policy {
        case .unbounded: .unbounded
        case .bufferingOldest(let count): .bufferingOldest(count)
        case .bufferingNewest(let count): .bufferingNewest(count)
        @unknown default: .unbounded
        }
    }

    /// Returns an iterator. The iteration ends at the latest when the last copy of the iterator is released.
    public func makeAsyncIterator() -> Iterator {
        bufferedBytes?.beginIteration()
        return Iterator(events: stream.makeAsyncIterator(), lifetime: Lifetime(termination: termination))
    }

    /// Returns one event after another, and removes each from the buffer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: AsyncStream<Entry>.Iterator
        fileprivate let lifetime: Lifetime

        /// Waits for the next event. Returns nil after the last event, or when the task is cancelled.
        public mutating func next() async -> Element? {
            Task.isCancelled ? nil : await events.next()?.element
        }

        /// Waits for the next event as `next()` does, on the calling actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            Task.isCancelled ? nil : await events.next(isolation: actor)?.element
        }
    }

    /// An object that all copies of an iterator share. Its deinitializer ends the iteration.
    fileprivate final class Lifetime: Sendable {
        private let termination: StreamTermination

        init(termination: StreamTermination) { self.termination = termination }

        deinit { termination.run() }
    }
}

extension StreamOf: Sendable where Element: Sendable {}
extension StreamOf.Entry: Sendable where Element: Sendable {}
