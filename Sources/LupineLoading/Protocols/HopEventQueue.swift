// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Delivers what a load without a network exchange produces to the client: one call at a time, no faster than the client accepts
/// it, and with exactly one end.
///
/// A source adds items from any thread; the thread that finds the outlet idle makes the calls. Items are queued while the client
/// has paused or the load is suspended. Nothing is called under the lock.
final class HopEventQueue: Sendable {
    /// An item produced by a source.
    enum Item: Sendable {
        case response(URLResponse, URLCache.StoragePolicy)
        /// At least one byte.
        case content(Data)
        case redirect(URLRequest, URLResponse)
        case challenge(
            URLAuthenticationChallenge,
            reply: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
        case end((any Error)?)
    }

    /// The callbacks of a source: on any thread, but one at a time.
    struct Source: Sendable {
        /// Called when all items have been delivered and more may follow.
        var wantsMore: @Sendable () -> Void = {}
        /// Called once, when the load is over, before the client is told.
        var ended: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        var items: [Item] = []
        var head = 0
        var hop: (any HopLoad)?
        var client: (any HopLoadClient)?
        var source = Source()
        /// Whether a call of the client or a write is in progress.
        var isBusy = false
        var isPaused = false
        /// Whether the client resumed during a call: a `pause` returned by that call is then ignored.
        var isResumedAhead = false
        var isSuspended = false
        /// Whether an end was added; further items are ignored.
        var isClosed = false
        /// Whether the end is delivered although the client has paused or the load is suspended.
        var isForced = false
        var isOver = false
        var hasResponse = false
        /// The file for the content; nil if the client receives it.
        var target: FileTarget?
        var response: URLResponse?
        var received: Int64 = 0
        var began = Date()

        mutating func next() -> Item? {
            guard !isBusy, !isOver, isForced || !(isPaused || isSuspended), head < items.count else {
                return nil
            }
            isBusy = true
            isResumedAhead = false
            // Moved out of the array, so that the caller releases the program's objects in it outside of the lock.
            var item = Item.end(nil)
            swap(&item, &items[head])
            head += 1
            if head == items.count || head >= 64 && head > items.count / 2 {
                items.removeFirst(head)
                head = 0
            }
            return item
        }

        /// Discards the queued items; the end is delivered after the call in progress. Returns the discarded items, which may
        /// contain the program's objects and must be released outside of the lock.
        @discardableResult
        mutating func finish(_ error: URLError?) -> [Item] {
            guard !isOver, !isForced else { return [] }
            var thrownAway: [Item] = [.end(error)]
            swap(&items, &thrownAway)
            head = 0
            isClosed = true
            isForced = true
            return thrownAway
        }
    }

    private static let mostPerCall = 64 << 10

    private let request: URLRequest
    private let state: Lock<State>

    /// Creates an outlet to `client` for a load of `request`.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        state = Lock(State(client: client))
    }

    /// Starts the delivery with `hop` as the load that the client is called for. Also called for a load that ends before it
    /// starts.
    func open(for hop: any HopLoad, _ source: Source = Source()) {
        state.withLock { state in
            guard state.hop == nil, !state.isOver else { return }
            state.hop = hop
            state.source = source
            state.began = Date()
        }
        pump()
    }

    /// Whether further items are ignored.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether the content goes to a file, so that pieces may be large.
    var isSplicing: Bool { state.withLock { $0.target != nil } }
    /// Whether the outlet waits for nothing but the source.
    var isWaitingForSource: Bool {
        state.withLock { !$0.isPaused && !$0.isSuspended && !$0.isBusy && !$0.isOver }
    }

    /// Checks again whether to ask the source for more.
    func poll() { pump() }

    /// Adds an item of the source. Ignores empty content, a second response, a redirect after a response, and everything after an
    /// end.
    func say(_ item: Item) {
        state.withLock { state in
            guard !state.isClosed else { return }
            switch item {
            case .content(let data):
                if data.isEmpty { return }
                if state.target != nil || data.count <= Self.mostPerCall {
                    state.items.append(item)
                } else {
                    for start in stride(from: 0, to: data.count, by: Self.mostPerCall) {
                        let piece = data.dropFirst(start).prefix(Self.mostPerCall)
                        state.items.append(.content(Data(piece)))
                    }
                }
            case .end:
                state.isClosed = true
                state.items.append(item)
            case .response:
                if state.hasResponse { return }
                state.hasResponse = true
                state.items.append(item)
            case .redirect:
                // After a response a redirect would pause the load, and the client would never resume it.
                if state.hasResponse { return }
                state.items.append(item)
            case .challenge: state.items.append(item)
            }
        }
        pump()
    }

    /// Ends the load with an error or without one, discarding the queued items.
    func finish(_ error: URLError?) {
        _ = state.withLock { $0.finish(error) }
        pump()
    }

    /// Resumes the delivery; during a call, overrides a `pause` that the call may return.
    func resumeReading() {
        state.withLock { state in
            state.isPaused = false
            state.isResumedAhead = state.isBusy
        }
        pump()
    }

    func setSuspended(_ isSuspended: Bool) {
        state.withLock { $0.isSuspended = isSuspended }
        if !isSuspended { pump() }
    }

    // MARK: the calls

    private func pump() {
        while let (item, hop, client) = next() {
            guard perform(item, hop, client) else { return }
        }
        wantMore()
    }

    private func next() -> (Item, any HopLoad, any HopLoadClient)? {
        state.withLock { state in
            guard let hop = state.hop, let client = state.client, let item = state.next() else { return nil }
            return (item, hop, client)
        }
    }

    /// Delivers an item. Returns false if the caller must stop: a write continues the delivery when it is done.
    private func perform(_ item: Item, _ hop: any HopLoad, _ client: any HopLoadClient) -> Bool {
        switch item {
        case .response(let response, let policy):
            state.withLock { $0.response = response }
            let plan = client.hopResponse(hop, response, storagePolicy: policy)
            rest { state in
                switch plan {
                case .deliver: break
                case .pause: state.isPaused = !state.isResumedAhead
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
            let demand = client.hopReceived(hop, data)
            taken(data.count, demand)
        case .redirect(let request, let response):
            // Paused until the client has decided about the redirect.
            state.withLock { $0.isPaused = true }
            client.hopRedirected(hop, to: request, response: response)
            rest { _ in [] }
        case .challenge(let challenge, let reply):
            client.hopChallenged(hop, challenge, reply: reply)
            rest { _ in [] }
        case .end(let error): end(error, hop, client)
        }
        return true
    }

    /// Ends a call. `update` returns the discarded items, which are released outside of the lock.
    private func rest(_ update: (inout State) -> [Item]) {
        _ = state.withLock { state in
            state.isBusy = false
            return update(&state)
        }
    }

    private func taken(_ count: Int, _ demand: Demand) {
        rest { state in
            state.received += Int64(count)
            switch demand {
            case .more: break
            case .pause: state.isPaused = !state.isResumedAhead
            case .enough: return state.finish(nil)
            }
            return []
        }
    }

    private func write(
        _ data: Data, into target: FileTarget, _ hop: any HopLoad, _ client: any HopLoadClient
    ) {
        StorageQueue.files.async { [self] in
            let octets = [UInt8](data)
            do throws(TransportError) {
                try target.write(octets.span)
                taken(octets.count, client.hopSpliced(hop, octets.count))
            } catch {
                let failure = URLError.loading(.cannotWriteToFile, url: request.url, underlying: error)
                rest { $0.finish(failure) }
            }
            pump()
        }
    }

    private func end(_ error: (any Error)?, _ hop: any HopLoad, _ client: any HopLoadClient) {
        let (metrics, source, _) = state.withLock { state in
            let metrics = HopMetrics(
                request: request, response: state.response, fetchType: .unknown, exchanges: [],
                fetchStart: state.began, end: Date(), bodyBytesBeforeEncoding: 0,
                bodyBytesAfterDecoding: state.received)
            let source = state.source
            state.isOver = true
            state.isClosed = true
            state.source = Source()
            state.target = nil
            state.client = nil
            return (metrics, source, state.hop.take())
        }
        source.ended()
        client.hopEnded(hop, error, metrics)
    }

    private func wantMore() {
        let wantsMore = state.withLock { state -> (@Sendable () -> Void)? in
            let isHungry =
                state.hop != nil && !state.isBusy && !state.isClosed && !state.isPaused && !state.isSuspended
            return isHungry && state.items.isEmpty ? state.source.wantsMore : nil
        }
        wantsMore?()
    }
}
