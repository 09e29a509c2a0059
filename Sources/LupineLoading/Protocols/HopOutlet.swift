// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The way of a load that is no exchange to its client: what the source says, one call after the other, no faster than
/// it is taken, with one end.
///
/// A source says what it has from any thread; whoever finds the outlet at rest makes the calls. It holds what comes while
/// the client has paused or the load is suspended. Nothing is called under its lock.
final class HopOutlet: Sendable {
    /// Something that a source says.
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

    /// What the source is told; on any thread, and never two at once.
    struct Source: Sendable {
        /// All that was said has been taken, and there may be more.
        var wantsMore: @Sendable () -> Void = {}
        /// It is over, and the client is about to hear so. Called once.
        var ended: @Sendable () -> Void = {}
    }

    private struct State: Sendable {
        var items: [Item] = []
        var head = 0
        var hop: (any HopLoad)?
        var client: (any HopLoadClient)?
        var source = Source()
        /// Somebody makes a call, or a write is under way.
        var isBusy = false
        var isPaused = false
        /// The client went on while the call was still under way whose answer is to pause.
        var isResumedAhead = false
        var isSuspended = false
        /// An end has been said: nothing else is taken.
        var isClosed = false
        /// The end does not wait for whoever has paused.
        var isForced = false
        var isOver = false
        var hasResponse = false
        /// Where the content goes, if not to the client.
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
            // It leaves the array: what the program brought in goes away with who takes it, under no lock.
            var item = Item.end(nil)
            swap(&item, &items[head])
            head += 1
            if head == items.count || head >= 64 && head > items.count / 2 {
                items.removeFirst(head)
                head = 0
            }
            return item
        }

        /// Throws away what waits; the end comes as soon as whoever is busy is done. Returns what is thrown away: it is the
        /// program's, and does not go away under the lock.
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

    /// An outlet to `client` for a load of `request`.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        state = Lock(State(client: client))
    }

    /// The load begins, or is ended without having begun: from here on `hop` is what the client is told of.
    func open(for hop: any HopLoad, _ source: Source = Source()) {
        state.withLock { state in
            guard state.hop == nil, !state.isOver else { return }
            state.hop = hop
            state.source = source
            state.began = Date()
        }
        pump()
    }

    /// Whether nothing that is said counts any more.
    var isClosed: Bool { state.withLock { $0.isClosed } }
    /// Whether the content goes into a file, so that pieces may be large.
    var isSplicing: Bool { state.withLock { $0.target != nil } }
    /// Whether time goes by without anybody but the source being waited for.
    var isWaitingForSource: Bool {
        state.withLock { !$0.isPaused && !$0.isSuspended && !$0.isBusy && !$0.isOver }
    }

    /// Looks again whether the source is wanted.
    func poll() { pump() }

    /// The source says something. What is empty is not said; a second response, a redirect behind one, and what comes after an end
    /// are not heard.
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
                // Who has answered does not send elsewhere: nobody would say that the protocol may go on.
                if state.hasResponse { return }
                state.items.append(item)
            case .challenge: state.items.append(item)
            }
        }
        pump()
    }

    /// Ends it with that, or with nothing, whatever else waits.
    func finish(_ error: URLError?) {
        _ = state.withLock { $0.finish(error) }
        pump()
    }

    /// The client goes on: with what comes next, or, while it is called, in advance of its answer.
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

    /// Returns whether to go on here; a write goes on by itself.
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
            // The protocol is held until the client has thought about it.
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

    /// The call is over. `update` returns what is thrown away.
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
