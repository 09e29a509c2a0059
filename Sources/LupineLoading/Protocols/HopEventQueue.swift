// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Queues the events of a load that does not use the network, such as its response and content, and delivers them to the client
/// of the load. It makes one call at a time, delivers content no faster than the client accepts it, and delivers exactly one end.
///
/// The load, or the program's `URLProtocol`, adds events on any thread. The thread that adds an event delivers it, unless another
/// thread is delivering. Events wait in the queue while the client has paused the load or the load is suspended. No lock is held
/// during a call.
final class HopEventQueue: Sendable {
    /// An event of the load, produced by its source.
    enum Event: Sendable {
        /// The response, and where it may be cached.
        case response(URLResponse, URLCache.StoragePolicy)
        /// A piece of the content, never empty.
        case content(Data)
        /// A redirect: the request to continue with, and the response that redirects.
        case redirect(URLRequest, URLResponse)
        /// A challenge, and the closure that receives the answer.
        case challenge(
            URLAuthenticationChallenge,
            reply: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        /// The end of the load; the error is nil after a success.
        case end((any Error)?)
    }

    /// The callbacks to the source of the events. They are called on any thread, but one at a time.
    struct Source: Sendable {
        /// Called when all events have been delivered and the client accepts more.
        var onDemand: @Sendable () -> Void = {}
        /// Called once, when the load has ended, before the client's `hopEnded`.
        var onEnd: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        /// The queued events, from index `head` on. The elements before it are placeholders.
        var events: [Event] = []
        var head = 0
        /// The load, from the call of `start` to its end.
        var hop: (any HopLoad)?
        /// The client of the load; nil after its end.
        var client: (any HopLoadClient)?
        var source = Source()
        /// Whether a call of the client or a write to its file is in progress.
        var isBusy = false
        /// Whether the client has paused the load.
        var isPaused = false
        /// Whether the client has called `resumeReading` during the call in progress. Then a `pause` that the call returns is
        /// ignored.
        var wasResumedDuringCall = false
        var isSuspended = false
        /// Whether an end was added, or has been delivered; further events are ignored.
        var isClosed = false
        /// Whether `finish` has discarded the queued events. Then the end is delivered even while the client has paused the load
        /// or the load is suspended.
        var isFinishing = false
        /// Whether the client's `hopEnded` has been or is about to be called.
        var hasEnded = false
        /// Whether a response was added.
        var hasResponse = false
        /// The file to which the content is written; nil if the client receives the content.
        var target: FileTarget?
        /// The response that was delivered.
        var response: URLResponse?
        /// The number of bytes of content that were delivered.
        var deliveredBytes: Int64 = 0
        /// When the load started.
        var startDate = Date()

        /// Placeholders are removed once there are at least this many and they outnumber the events, or once no event remains.
        private static let maxPlaceholders = 64

        /// Whether the client accepts an event now.
        var canDeliver: Bool {
            if isBusy || hasEnded { return false }
            return isFinishing || !(isPaused || isSuspended)
        }

        /// Removes and returns the next event if it may be delivered now; then the caller has to call `finishCall`.
        mutating func next() -> Event? {
            guard canDeliver, head < events.count else { return nil }
            isBusy = true
            wasResumedDuringCall = false
            // The event is swapped with a placeholder, so that the queue does not retain the program's objects in it. The caller
            // releases them outside of the lock.
            var event = Event.end(nil)
            swap(&event, &events[head])
            head += 1
            // Removes many placeholders at a time, because each removal moves the events after them.
            let hasManyPlaceholders = head >= Self.maxPlaceholders && head > events.count / 2
            if head == events.count || hasManyPlaceholders {
                events.removeFirst(head)
                head = 0
            }
            return event
        }

        /// Discards the queued events, and delivers the end after the call in progress. Returns the discarded events, which may
        /// contain the program's objects and must be released outside of the lock.
        @discardableResult
        mutating func finish(_ error: URLError?) -> [Event] {
            guard !hasEnded, !isFinishing else { return [] }
            // Swapped, so that afterwards the end is the only queued event.
            var discarded: [Event] = [.end(error)]
            swap(&events, &discarded)
            head = 0
            isClosed = true
            isFinishing = true
            return discarded
        }
    }

    /// The maximum number of bytes of content that one call passes to the client: 64 KiB.
    private static let maxBytesPerCall = 64 << 10

    private let request: URLRequest
    private let state: Lock<State>

    /// Creates the queue of a load of `request` that delivers to `client`.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        state = Lock(State(client: client))
    }

    /// Starts the delivery. A second call has no effect. A load that is cancelled before it starts has to call this, too, so that
    /// its end is delivered.
    ///
    /// - Parameters:
    ///   - hop: The load that is passed to the client's methods.
    ///   - source: The callbacks to the source of the events.
    func start(for hop: any HopLoad, _ source: Source = Source()) {
        state.withLock { state in
            guard state.hop == nil, !state.hasEnded else { return }
            state.hop = hop
            state.source = source
            state.startDate = Date()
        }
        deliverEvents()
    }

    /// Whether further events are ignored.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether the content is written to a file, so that pieces may be large.
    var writesToFile: Bool { state.withLock { $0.target != nil } }
    /// Whether the next call to the client has to wait only for an event of the source.
    var isWaitingForSource: Bool {
        state.withLock { !$0.isPaused && !$0.isSuspended && !$0.isBusy && !$0.hasEnded }
    }

    /// Calls the source's `onDemand` if all events are delivered and the client accepts more. Delivers queued events first.
    func requestEventsIfNeeded() { deliverEvents() }

    /// Adds an event. Ignores empty content, a second response, a redirect after a response, and all events after an end.
    func enqueue(_ event: Event) {
        state.withLock { state in
            guard !state.isClosed else { return }
            switch event {
            case .content(let data):
                if data.isEmpty { return }
                if state.target != nil || data.count <= Self.maxBytesPerCall {
                    state.events.append(event)
                } else {
                    for start in stride(from: 0, to: data.count, by: Self.maxBytesPerCall) {
                        let piece = data.dropFirst(start).prefix(Self.maxBytesPerCall)
                        state.events.append(.content(Data(piece)))
                    }
                }
            case .end:
                state.isClosed = true
                state.events.append(event)
            case .response:
                if state.hasResponse { return }
                state.hasResponse = true
                state.events.append(event)
            case .redirect:
                // Delivering a redirect pauses the load. After a response, the client would never resume it.
                if state.hasResponse { return }
                state.events.append(event)
            case .challenge: state.events.append(event)
            }
        }
        deliverEvents()
    }

    /// Discards the queued events and ends the load, with an error or without one.
    func finish(_ error: URLError?) {
        // The discarded events are returned, so that they are released outside of the lock.
        _ = state.withLock { $0.finish(error) }
        deliverEvents()
    }

    /// Resumes the delivery after a pause. If a call of the client is in progress, a `pause` that it returns is ignored.
    func resumeReading() {
        state.withLock { state in
            state.isPaused = false
            state.wasResumedDuringCall = state.isBusy
        }
        deliverEvents()
    }

    /// Suspends or resumes the delivery.
    func setSuspended(_ isSuspended: Bool) {
        state.withLock { $0.isSuspended = isSuspended }
        if !isSuspended { deliverEvents() }
    }

    // MARK: calling the client

    /// Delivers events until none may be delivered; then calls the source's `onDemand` if the client accepts more.
    private func deliverEvents() {
        while let (event, hop, client) = next() {
            let canContinue = deliver(event, hop, client)
            if !canContinue { return }
        }
        requestEvents()
    }

    /// Returns the next event if it may be delivered now, with the load and the client to call.
    private func next() -> (Event, any HopLoad, any HopLoadClient)? {
        state.withLock { state in
            guard let hop = state.hop, let client = state.client, let event = state.next() else { return nil }
            return (event, hop, client)
        }
    }

    /// Delivers an event. Returns false if the event is content that is being written to a file; `write` continues the delivery.
    private func deliver(_ event: Event, _ hop: any HopLoad, _ client: any HopLoadClient) -> Bool {
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
            // Pauses until the client has decided about the redirect and calls `resumeReading`.
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

    /// Marks the call in progress as finished, and changes the state with `update`. The events that `update` has discarded and
    /// returns are released outside of the lock.
    private func finishCall(_ update: (inout State) -> [Event]) {
        _ = state.withLock { state in
            state.isBusy = false
            return update(&state)
        }
    }

    /// Marks the delivery of content as finished: counts its bytes, then pauses or ends the load if the client demands it.
    private func finishDelivery(_ byteCount: Int, _ demand: Demand) {
        finishCall { state in
            state.deliveredBytes += Int64(byteCount)
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
            deliverEvents()
        }
    }

    /// Ends the load: calls the source's `onEnd`, then the client's `hopEnded` with the metrics.
    private func end(_ error: (any Error)?, _ hop: any HopLoad, _ client: any HopLoadClient) {
        // The third element, the load, is returned only so that it is released outside of the lock.
        let (metrics, source, _) = state.withLock { state in
            let metrics = HopMetrics(
                request: request, response: state.response, fetchType: .unknown, exchanges: [],
                fetchStart: state.startDate, end: Date(), bodyBytesBeforeEncoding: 0,
                bodyBytesAfterDecoding: state.deliveredBytes)
            let source = state.source
            state.hasEnded = true
            state.isClosed = true
            state.source = Source()
            state.target = nil
            state.client = nil
            return (metrics, source, state.hop.take())
        }
        source.onEnd()
        client.hopEnded(hop, error, metrics)
    }

    /// Calls the source's `onDemand`, if no event is queued and the client accepts more.
    private func requestEvents() {
        let onDemand = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.hop != nil, state.events.isEmpty, !state.isBusy, !state.isClosed else { return nil }
            return state.isPaused || state.isSuspended ? nil : state.source.onDemand
        }
        onDemand?()
    }
}
