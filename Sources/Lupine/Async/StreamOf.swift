// SPDX-License-Identifier: MIT

/// Events of a request as an asynchronous sequence. Created by the library only.
///
/// Events are buffered from the creation of the sequence on; an iteration removes them. Only one iteration is supported: a
/// second one gets the events that the first has left. The iteration ends when the last copy of its iterator is released,
/// when its task is cancelled, or when the request has no more events.
public struct StreamOf<Element>: AsyncSequence {
    public typealias AsyncIterator = Iterator
    /// How many events are buffered, and which are dropped.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

    /// A buffered event.
    struct Entry {
        let element: Element
        let receipt: BufferedByteCount.Receipt?
    }

    private let stream: AsyncStream<Entry>
    private let end: StreamTermination
    private let gathered: BufferedByteCount?

    /// Calls `source` at once with an object that buffers the events sent to it, until it finishes the stream.
    ///
    /// - Parameters:
    ///   - gathered: Counts the bytes of the buffered events.
    ///   - onTermination: Called once, when an iteration ends before the source has finished.
    init(
        bufferingPolicy: BufferingPolicy, gathered: BufferedByteCount? = nil,
        onTermination: (@Sendable () -> Void)? = nil, source: (StreamSource<Element>) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Entry.self, bufferingPolicy: Self.policy(bufferingPolicy))
        self.stream = stream
        self.gathered = gathered
        end = StreamTermination {
            continuation.finish()
            gathered?.end()
            onTermination?()
        }
        source(StreamSource(continuation: continuation, end: end, gathered: gathered))
    }

    /// Converts the policy to one for `Entry` elements.
    private static func policy(
        _ policy: BufferingPolicy
    ) -> AsyncStream<Entry>.Continuation.BufferingPolicy {
        switch policy {
        case .unbounded: .unbounded
        case .bufferingOldest(let count): .bufferingOldest(count)
        case .bufferingNewest(let count): .bufferingNewest(count)
        @unknown default: .unbounded
        }
    }

    /// Returns an iterator. The iteration ends when the last copy of it is released.
    public func makeAsyncIterator() -> Iterator {
        gathered?.begin()
        return Iterator(events: stream.makeAsyncIterator(), lifetime: Lifetime(end: end))
    }

    /// Returns one event after the other, and removes it from the buffer.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: AsyncStream<Entry>.Iterator
        fileprivate let lifetime: Lifetime

        /// Waits for the next event; nil after the last one, or when the task is cancelled.
        public mutating func next() async -> Element? {
            Task.isCancelled ? nil : await events.next()?.element
        }

        /// Waits for the next event as `next()` does, on the calling actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            Task.isCancelled ? nil : await events.next(isolation: actor)?.element
        }
    }

    /// Shared by the copies of an iterator; its deinitializer ends the iteration.
    fileprivate final class Lifetime: Sendable {
        private let end: StreamTermination

        init(end: StreamTermination) { self.end = end }

        deinit { end.reach() }
    }
}

extension StreamOf: Sendable where Element: Sendable {}
extension StreamOf.Entry: Sendable where Element: Sendable {}
