// SPDX-License-Identifier: MIT

/// Events of a request as an asynchronous sequence. Made by the library only.
///
/// Events are gathered from the moment at which the sequence is made; iterating takes them out. Only one iteration is
/// supported: another one sees what the first has left. The iteration is over when its iterator, and every copy of it,
/// is gone, when the task that iterates is cancelled, or when the request has no more events.
public struct StreamOf<Element>: AsyncSequence {
    public typealias AsyncIterator = Iterator
    /// Which events are kept until they are taken.
    public typealias BufferingPolicy = AsyncStream<Element>.Continuation.BufferingPolicy

    /// What waits in the buffer.
    struct Entry {
        let element: Element
        let receipt: GatheredBytes.Receipt?
    }

    private let stream: AsyncStream<Entry>
    private let end: StreamEnd
    private let gathered: GatheredBytes?

    /// Has `source` send events, to be gathered at once, until it finishes the stream.
    ///
    /// - Parameters:
    ///   - gathered: Counts the bytes of what waits to be taken out.
    ///   - onTermination: Called once, when an iteration ends before the source has finished.
    init(
        bufferingPolicy: BufferingPolicy, gathered: GatheredBytes? = nil,
        onTermination: (@Sendable () -> Void)? = nil, source: (StreamSource<Element>) -> Void
    ) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Entry.self, bufferingPolicy: Self.policy(bufferingPolicy))
        self.stream = stream
        self.gathered = gathered
        end = StreamEnd {
            continuation.finish()
            gathered?.end()
            onTermination?()
        }
        source(StreamSource(continuation: continuation, end: end, gathered: gathered))
    }

    /// The same policy about entries.
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

    /// An iterator; with its last copy the iteration ends.
    public func makeAsyncIterator() -> Iterator {
        gathered?.begin()
        return Iterator(events: stream.makeAsyncIterator(), lifetime: Lifetime(end: end))
    }

    /// Takes out one event after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var events: AsyncStream<Entry>.Iterator
        fileprivate let lifetime: Lifetime

        /// The next event, as soon as there is one; nil when there will be none, or when the task is cancelled.
        public mutating func next() async -> Element? {
            Task.isCancelled ? nil : await events.next()?.element
        }

        /// The same, without leaving the actor that asks.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            Task.isCancelled ? nil : await events.next(isolation: actor)?.element
        }
    }

    /// Shared by the copies of an iterator.
    fileprivate final class Lifetime: Sendable {
        private let end: StreamEnd

        init(end: StreamEnd) { self.end = end }

        deinit { end.reach() }
    }
}

extension StreamOf: Sendable where Element: Sendable {}
extension StreamOf.Entry: Sendable where Element: Sendable {}
