// SPDX-License-Identifier: MIT

import LupineHTTP
package import LupineTLS

/// Fetches revocation data (OCSP responses and CRLs) over plain HTTP, for a trust evaluation that waits for it.
///
/// It uses no TLS: the data is signed, and the TLS handshake would need revocation data itself. Its requests contain no cookies,
/// no credentials except a proxy's, and no fields of the program. It accepts no content coding, follows a few redirects within
/// `http`, and stops at the size limit and the deadline of the query. `fetch` blocks, so it must not be called on a loop.
package final class RevocationClient: RevocationFetcher {
    private let pool: ConnectionPool
    /// The clock of the loops.
    private let clock: any TransportClock
    private let proxies: ProxyRule
    /// The maximum number of followed redirects.
    private static let redirectLimit = 3

    /// Creates a client on the loops of `group`, with a small connection pool.
    package init(group: EventLoopGroup, resolver: Resolver, proxies: ProxyRule) {
        self.proxies = proxies
        clock = group.clock
        var configuration = ConnectionPool.Configuration()
        configuration.limits = PoolLimits(perHost: 2, total: 16, idleTimeout: .seconds(15))
        configuration.parserLimits.headBytes = 32 * 1024
        pool = ConnectionPool(configuration: configuration, group: group, resolver: resolver)
    }

    package func fetch(
        _ query: RevocationQuery, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> [UInt8] {
        precondition(!NativeThread.isLoop, "an event loop may not wait for a revocation answer")
        var url: TransportURL
        do throws(TransportURLError) { url = try TransportURL(query.url) } catch {
            throw .failed("\(error)")
        }
        // The first request, and one more for each redirect.
        for _ in 0...Self.redirectLimit {
            guard url.scheme == .http else { throw .failed("not an http URL") }
            let answer = try performExchange(for: query, to: url, deadline: deadline)
            switch (answer.head.status.code, answer.head.fields[.location]) {
            case (200, _):
                let codings = answer.head.fields.values(of: .contentEncoding)
                guard codings.allSatisfy({ $0.asciiLowercased == "identity" }) else {
                    throw .failed("the answer has a content coding that was not asked for")
                }
                return answer.body
            case (301, let location?), (302, let location?), (303, let location?), (307, let location?),
                (308, let location?):
                // A redirected POST that becomes a GET is not an OCSP request.
                guard query.body == nil || answer.head.status.code >= 307 else {
                    throw .status(Int(answer.head.status.code))
                }
                do throws(TransportURLError) { url = try url.resolving(location: location) } catch {
                    throw .failed("\(error)")
                }
            case (let code, _): throw .status(Int(code))
            }
        }
        throw .failed("more than \(Self.redirectLimit) redirects")
    }

    /// Shuts down: running queries fail, and the connections close. Calls `whenDone` once the last connection has closed.
    package func shutDown(_ whenDone: @escaping @Sendable () -> Void) { pool.shutDown(whenDone) }

    /// Accepts no more queries; running ones may complete. Calls `whenDone` once the last connection has closed.
    package func retire(_ whenDone: @escaping @Sendable () -> Void) { pool.retire(whenDone) }

    /// Performs one exchange and blocks until it ends or the deadline passes.
    private func performExchange(
        for query: RevocationQuery, to url: TransportURL, deadline: ContinuousClock.Instant
    ) throws(RevocationFetchError) -> RevocationSink.Answer {
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard remaining > .zero else { throw .timedOut }
        let proxy = proxies.proxy(for: .http, host: url.host, port: url.port)
        // An https proxy is not used: its certificate might need revocation data first.
        guard proxy?.kind != .https else { throw .failed("no answer is fetched through an https proxy") }
        let sink: RevocationSink
        do throws(Errno) { sink = try RevocationSink(limit: query.limit) } catch { throw .failed("\(error)") }
        var fields = Fields()
        do throws(HTTPError) {
            try fields.append(.host, url.hostField)
            if query.body != nil {
                try fields.append(.contentType, "application/ocsp-request")
                try fields.append(.accept, "application/ocsp-response")
            }
        } catch { throw .failed("\(error)") }
        let exchange = Exchange(
            head: RequestHead(
                method: query.body == nil ? .get : .post, target: .origin(url.target), fields: fields),
            content: query.body.map { .bytes($0) } ?? .none,
            origin: Origin(scheme: .http, host: url.host, port: url.port, proxy: proxy),
            options: ExchangeOptions(timeouts: TransferTimeouts(whole: Interval(remaining))), at: clock.now(),
            sink: sink)
        pool.submit(exchange)
        // The promise waits by the system's clock, even if the loops have another clock, as in tests.
        let end: Instant = MonotonicClock().now() + Interval(remaining)
        let answer: Result<RevocationSink.Answer, RevocationFetchError>?
        do throws(Errno) { answer = try sink.answer.wait(until: end) } catch {
            exchange.cancel(.cancelled)
            throw .failed("\(error)")
        }
        guard let answer else {
            exchange.cancel(.cancelled)
            throw .timedOut
        }
        return try answer.get()
    }
}

/// Collects one response for `RevocationClient`, up to a size limit.
private final class RevocationSink: ExchangeSink {
    struct Answer: Sendable {
        let head: ResponseHead
        let body: [UInt8]
    }

    private struct State {
        var head: ResponseHead?
        var body: [UInt8] = []
        var isTooLarge = false
    }

    let answer: BlockingPromise<Result<Answer, RevocationFetchError>>
    private let limit: Int
    private let state = Lock(State())

    init(limit: Int) throws(Errno) {
        self.limit = limit
        answer = try BlockingPromise()
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        let exceedsLimit = if case .length(let length) = framing { length > Int64(limit) } else { false }
        // The content of any other response is not used: a redirect, or an error.
        let needsContent = head.status.code == 200
        state.withLock { state in
            state.head = head
            state.isTooLarge = needsContent && exceedsLimit
        }
        return needsContent && !exceedsLimit ? .deliver : .skip
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        state.withLock { [limit] state in
            guard bytes.count <= limit - state.body.count else {
                state.isTooLarge = true
                return .enough
            }
            for index in bytes.indices { state.body.append(bytes[index]) }
            return .more
        }
    }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let end = state.withLock { [limit] state -> Result<Answer, RevocationFetchError> in
            if state.isTooLarge { return .failure(.tooLarge(limit: limit)) }
            switch result {
            case .failure(.timedOut): return .failure(.timedOut)
            case .failure(let error): return .failure(.failed("\(error)"))
            case .success:
                guard let head = state.head else { return .failure(.failed("no answer")) }
                return .success(Answer(head: head, body: state.body))
            }
        }
        answer.fulfill(end)
    }
}
