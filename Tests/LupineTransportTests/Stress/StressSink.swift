// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport
import Synchronization
import Testing

/// A sink that computes a checksum of its content, counts its ends, and calls an observer at each moment of its exchange.
final class StressSink: ExchangeSink {
    /// A moment in the life of an exchange, as its sink and source see it.
    enum Moment: Int, CaseIterable, Sendable {
        case beforeSubmit, afterSubmit, supplying, sent, interim, head, content, paused, ending, arrived

        /// Whether the exchange itself causes the moment, so that it must not occur after the end. The other moments are caused
        /// by the submitter and by the origin, on their own threads.
        var isOfExchange: Bool {
            switch self {
            case .beforeSubmit, .afterSubmit, .arrived, .ending: false
            case .supplying, .sent, .interim, .head, .content, .paused: true
            }
        }
    }

    /// Called at each moment, with the number of its earlier occurrences.
    typealias Observer = @Sendable (StressSink, Moment, Int) -> Demand

    struct Outcome: Sendable {
        var sum = CheckSum()
        var count = 0
        var status = 0
        var ends = 0
        var result: Result<Fields, TransportError>?
        var afterEnd = 0
        var moments = [Int](repeating: 0, count: Moment.allCases.count)
    }

    let outcome = Lock(Outcome())
    private let exchange = Lock<WeakExchange>(WeakExchange())
    private let observer: Observer
    private let ended: @Sendable (StressSink) -> Void

    private struct WeakExchange: Sendable { weak var exchange: Exchange? }

    init(_ observer: @escaping Observer, ended: @escaping @Sendable (StressSink) -> Void) {
        self.observer = observer
        self.ended = ended
    }

    func attach(_ exchange: Exchange) { self.exchange.withLock { $0.exchange = exchange } }

    func cancel() { exchange.withLock { $0.exchange }?.cancel() }

    func resume() { exchange.withLock { $0.exchange }?.resume() }

    @discardableResult
    func reached(_ moment: Moment) -> Demand {
        let occurrence = outcome.withLock { outcome -> Int in
            if outcome.ends > 0, moment.isOfExchange { outcome.afterEnd += 1 }
            defer { outcome.moments[moment.rawValue] += 1 }
            return outcome.moments[moment.rawValue]
        }
        return observer(self, moment, occurrence)
    }

    func receivedInterim(_ head: ResponseHead) { reached(.interim) }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        outcome.withLock { $0.status = Int(head.status.code) }
        return switch reached(.head) {
        case .more: .deliver
        case .pause: .pause
        case .enough: .skip
        }
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        var sum = outcome.withLock { $0.sum }
        sum.update(bytes)
        let (total, count) = (sum, bytes.count)
        outcome.withLock {
            $0.sum = total
            $0.count += count
        }
        return reached(.content)
    }

    func sentContent(_ total: Int64) { reached(.sent) }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        outcome.withLock {
            $0.ends += 1
            $0.result = result
        }
        reached(.ending)
        ended(self)
    }
}

/// A source that supplies its content in pieces, and reports each call of `next` to its sink.
final class StressSource: ContentSource {
    private let octets: [UInt8]
    private let offset = Lock(0)
    private let sink: StressSink

    init(_ octets: [UInt8], _ sink: StressSink) {
        self.octets = octets
        self.sink = sink
    }

    let isReplayable = true
    func abandon() {}
    func rewind() -> Bool {
        offset.withLock { $0 = 0 }
        return true
    }

    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void) {
        sink.reached(.supplying)
        let piece = offset.withLock { offset -> [UInt8] in
            let end = min(octets.count, offset + 3_000)
            defer { offset = end }
            return Array(octets[offset..<end])
        }
        reply(piece.isEmpty ? .end(trailers: Fields()) : .bytes(piece))
    }
}

/// Weak references to objects that must have been released at the end.
final class Remains: Sendable {
    private struct Reference: Sendable { weak var object: (any AnyObject & Sendable)? }
    private let references = Lock<[Reference]>([])

    func watch(_ object: any AnyObject & Sendable) {
        references.withLock { $0.append(Reference(object: object)) }
    }

    var count: Int { references.withLock { $0.count { $0.object != nil } } }
}

extension EventLoop {
    /// Returns the number of timers that are set, by reflection.
    func timerCount() async -> Int {
        await run {
            func child(_ name: String, of value: Any) -> Any? {
                Mirror(reflecting: value).children.first { $0.label == name }?.value
            }
            guard let core = child("core", of: self), let confined = child("confined", of: core),
                let timers = child("timers", of: confined), let heap = child("heap", of: timers)
            else { return -1 }
            return Mirror(reflecting: heap).children.count
        }
    }
}
