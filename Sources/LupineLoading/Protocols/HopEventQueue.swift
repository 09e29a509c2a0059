// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Queues the events of a load without a network exchange, and delivers them to its client: one call at a time, no faster than
/// the client accepts content, and with exactly one end.
///
/// A source adds events on any thread. The thread that finds no call in progress makes the calls. Events wait in the queue while
/// the client has paused or the load is suspended. The lock is not held during a call.
final class HopEventQueue: Sendable {
    /// An event of the load, produced by its source.
    enum Event: Sendable {
        case response(URLResponse, URLCache.StoragePolicy)
        /// At least one byte.
        case content(Data)
        case redirect(URLRequest, URLResponse)
        case challenge(
            URLAuthenticationChallenge,
            reply: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        case end((any Error)?)
    }

    /// The callbacks to a source, which are called on any thread, but one at a time.
    struct Source: Sendable {
        /// Called when all events have been delivered and more may follow.
        var wantsMore: @Sendable () -> Void = {}
        /// Called once, when the load has ended, before the client's `hopEnded`.
        var ended: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        /// The queued events, from index `head` on.
        var queued: [Event] = []
        var head = 0
        /// The load, from `open` to its end.
        var hop: (any HopLoad)?
        var client: (any HopLoadClient)?
        var source = Source()
        /// Whether a call of the client or a write is in progress.
        var isBusy = false
        var isPaused = false
        /// Whether the client resumed during a call: a `pause` returned by that call is then ignored.
        var wasResumedDuringCall = false
        var isSuspended = false
        /// Whether an end was added, or has been delivered; further events are ignored.
        var isClosed = false
        /// Whether `finish` has discarded the queued events: the end is delivered even while the client has paused or the load is
        /// suspended.
        var isFinishing = false
        /// Whether the client's `hopEnded` has been or is about to be called.
        var hasEnded = false
        /// Whether a response was added.
        var hasResponse = false
        /// The file for the content; nil if the client receives it.
        var target: FileTarget?
        /// The response that was delivered.
        var response: URLResponse?
        /// The number of bytes of content that were delivered.
        var received: Int64 = 0
        var startDate = Date()

        /// Removes and returns the next event if it may be delivered now; the caller then has to call `finishCall`.
        mutating func next() -> Event? {
            guard !isBusy, !hasEnded, isFinishing || !(isPaused || isSuspended), head < queued.count else {
                return nil
            }
            isBusy = true
            wasResumedDuringCall = false
            // Exchanged for a placeholder, so that the caller releases the program's objects in it outside of the lock.
            var event = Event.end(nil)
            swap(&event, &queued[head])
            head += 1
            // Removes many placeholders at a time, because each removal moves the events after them.
            if head == queued.count || head >= 64 && head > queued.count / 2 {
                queued.removeFirst(head)
                head = 0
            }
            return event
        }

        /// Discards the queued events, and delivers the end after the call in progress. Returns the discarded events, which may
        /// contain the program's objects and must be released outside of the lock.
        @discardableResult
        mutating func finish(_ error: URLError?) -> [Event] {
            guard !hasEnded, !isFinishing else { return [] }
            var discarded: [Event] = [.end(error)]
            swap(&queued, &discarded)
            head = 0
            isClosed = true
            isFinishing = true
            return discarded
        }
    }

    /// The most bytes of content that are passed to the client at a time.
    private static let maxBytesPerCall = 64 << 10

    private let request: URLRequest
    private let state: Lock<State>

    /// Creates the queue of a load of `request` that delivers to `client`.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        state = Lock(State(client: client))
    }

    /// Starts the delivery. The client's methods get `hop` as the load. A load that ends before it starts calls this, too.
    func open(for hop: any HopLoad, _ source: Source = Source()) {
        state.withLock { state in
            guard state.hop == nil, !state.hasEnded else { return }
            state.hop = hop
            state.source = source
            state.startDate = Date()
        }
        pump()
    }

    /// Whether further events are ignored.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether the content is written to a file, so that pieces may be large.
    var isSplicing: Bool { state.withLock { $0.target != nil } }
    /// Whether only the source has to act before the next call.
    var isWaitingForSource: Bool {
        state.withLock { !$0.isPaused && !$0.isSuspended && !$0.isBusy && !$0.hasEnded }
    }

    /// Asks the source for more if all events are delivered and the client accepts more.
    func askForMore() { pump() }

    /// Adds an event. Ignores empty content, a second response, a redirect after a response, and all events after an end.
    func enqueue(_ event: Event) {
        state.withLock { state in
            guard !state.isClosed else { return }
            switch event {
            case .content(let data):
                if data.isEmpty { return }
                if state.target != nil || data.count <= Self.maxBytesPerCall {
                    state.queued.append(event)
                } else {
                    for start in stride(from: 0, to: data.count, by: Self.maxBytesPerCall) {
                        let piece = data.dropFirst(start).prefix(Self.maxBytesPerCall)
                        state.queued.append(.content(Data(piece)))
                    }
                }
            case .end:
                state.isClosed = true
                state.queued.append(event)
            case .response:
                if state.hasResponse { return }
                state.hasResponse = true
                state.queued.append(event)
            case .redirect:
                // After a response a redirect would pause the load, and the client would never resume it.
                if state.hasResponse { return }
                state.queued.append(event)
            case .challenge: state.queued.append(event)
            }
        }
        pump()
    }

    /// Discards the queued events and ends the load, with an error or without one.
    func finish(_ error: URLError?) {
        // The discarded events are released outside of the lock.
        _ = state.withLock { $0.finish(error) }
        pump()
    }

    /// Resumes the delivery; during a call, overrides a `pause` that the call may return.
    func resumeReading() {
        state.withLock { state in
            state.isPaused = false
            state.wasResumedDuringCall = state.isBusy
        }
        pump()
    }

    /// Suspends or resumes the delivery.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { $0.isSuspended = isSuspended }
        if !isSuspended { pump() }
    }

    // MARK: calling the client

    /// Delivers events until none may be delivered, then asks the source for more unless the client has paused.
    private func pump() {
        while let (event, hop, client) = next() {
            guard perform(event, hop, client) else { return }
        }
        requestMore()
    }

    /// Returns the next event if it may be delivered now, with the load and the client to call.
    private func next() -> (Event, any HopLoad, any HopLoadClient)? {
        state.withLock { state in
            guard let hop = state.hop, let client = state.client, let event = state.next() else { return nil }
            return (event, hop, client)
        }
    }

    /// Delivers an event. Returns false if the delivery continues later, after a write.
    private func perform(_ event: Event, _ hop: any HopLoad, _ client: any HopLoadClient) -> Bool {
        switch event {
        case .response(let response, let policy):
            state.withLock { $0.response = response }
            let plan = client.hopReceivedResponse(hop, response, storagePolicy: policy)
            finishCall { state in
                switch plan {
                case .deliver: break
                case .pause: state.isPaused = !state.wasResumedDuringCall
                case .skip: return state.finish(nil)
                case .splice(let target): state.target = target
                }
                return []
            }
        case .content(let data):
            if let target = state.withLock({ $0.target }) {
                write(data, into: target, hop, client)
                return false
            }
            let demand = client.hopReceivedContent(hop, data)
            finishDelivery(data.count, demand)
        case .redirect(let request, let response):
            // Paused until the client has decided about the redirect.
            state.withLock { $0.isPaused = true }
            client.hopRedirected(hop, to: request, response: response)
            finishCall { _ in [] }
        case .challenge(let challenge, let reply):
            client.hopChallenged(hop, challenge, reply: reply)
            finishCall { _ in [] }
        case .end(let error): end(error, hop, client)
        }
        return true
    }

    /// Marks the call in progress as finished. `update` returns discarded events, which are released outside of the lock.
    private func finishCall(_ update: (inout State) -> [Event]) {
        _ = state.withLock { state in
            state.isBusy = false
            return update(&state)
        }
    }

    /// Counts delivered content, and does what the client demands.
    private func finishDelivery(_ count: Int, _ demand: Demand) {
        finishCall { state in
            state.received += Int64(count)
            switch demand {
            case .more: break
            case .pause: state.isPaused = !state.wasResumedDuringCall
            case .enough: return state.finish(nil)
            }
            return []
        }
    }

    /// Writes content to the client's file on the storage queue, then continues the delivery.
    private func write(
        _ data: Data, into target: FileTarget, _ hop: any HopLoad, _ client: any HopLoadClient
    ) {
        StorageQueue.files.async { [self] in
            let octets = [UInt8](data)
            do throws(TransportError) {
                try target.write(octets.span)
                finishDelivery(octets.count, client.hopSpliced(hop, octets.count))
            } catch {
                let failure = URLError.loading(.cannotWriteToFile, url: request.url, underlying: error)
                finishCall { $0.finish(failure) }
            }
            pump()
        }
    }

    /// Ends the load: calls the source's `ended`, then the client's `hopEnded` with the metrics.
    private func end(_ error: (any Error)?, _ hop: any HopLoad, _ client: any HopLoadClient) {
        // The ignored element, the hop, is released outside of the lock.
        let (metrics, source, _) = state.withLock { state in
            let metrics = HopMetrics(
                request: request, response: state.response, fetchType: .unknown, exchanges: [],
                fetchStart: state.startDate, end: Date(), bodyBytesBeforeEncoding: 0,
                bodyBytesAfterDecoding: state.received)
            let source = state.source
            state.hasEnded = true
            state.isClosed = true
            state.source = Source()
            state.target = nil
            state.client = nil
            return (metrics, source, state.hop.take())
        }
        source.ended()
        client.hopEnded(hop, error, metrics)
    }

    /// Calls the source's `wantsMore`, if no event is queued and the client accepts more.
    private func requestMore() {
        let wantsMore = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.hop != nil, state.queued.isEmpty, !state.isBusy, !state.isClosed else { return nil }
            return state.isPaused || state.isSuspended ? nil : state.source.wantsMore
        }
        wantsMore?()
    }
}
