// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// Chains of adapters and retriers, alone and on requests.
struct InterceptorChainTests {
    /// Adds its name to a header field, and records which of the two `adapt` methods was called.
    private struct Named: RequestInterceptor {
        let name: String
        let seen: ValueLog<String>
        var answer = RetryResult.doNotRetry

        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            seen.add("\(name) for")
            if name == "bad" { return completion(.failure(BriefError("bad"))) }
            var request = urlRequest
            request.addValue(name, forHTTPHeaderField: "X-Order")
            completion(.success(request))
        }

        func adapt(
            _ urlRequest: URLRequest, using state: RequestAdapterState,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            seen.add("\(name) using")
            adapt(urlRequest, for: state.session, completion: completion)
        }

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            seen.add("\(name) \(brief(error))")
            completion(answer)
        }
    }

    /// An interceptor that implements only `adapt(_:for:completion:)`.
    private struct OlderMethodAdapter: RequestInterceptor {
        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            var request = urlRequest
            request.addValue("older", forHTTPHeaderField: "X-Order")
            completion(.success(request))
        }
    }

    private let session = Session(startRequestsImmediately: false, eventMonitors: [])
    private let seen = ValueLog<String>()

    private func named(_ name: String, _ answer: RetryResult = .doNotRetry) -> Named {
        Named(name: name, seen: seen, answer: answer)
    }

    private func order(_ adapter: any RequestAdapter, usesState: Bool = true) throws -> String {
        let request = URLRequest(url: try #require(URL(string: "http://origin.test/")))
        let result = ValueLog<String>()
        let done: @Sendable (Result<URLRequest, any Error>) -> Void = { outcome in
            switch outcome {
            case .success(let request): result.add(request.value(forHTTPHeaderField: "X-Order") ?? "none")
            case .failure(let error): result.add(brief(error))
            }
        }
        if usesState {
            let state = RequestAdapterState(requestID: UUID(), session: session)
            adapter.adapt(request, using: state, completion: done)
        } else {
            adapter.adapt(request, for: session, completion: done)
        }
        return try #require(result.all.first)
    }

    private func answer(_ retrier: any RequestRetrier) throws -> String {
        let result = ValueLog<String>()
        retrier.retry(session.request("http://origin.test/"), for: session, dueTo: BriefError("why")) {
            result.add("\($0)")
        }
        return try #require(result.all.first)
    }

    @Test(
        "[I-1.1, I-1.2] adapters work through both methods; adapters do not retry, retriers do not adapt"
    )
    func singles() throws {
        let adapter = Adapter { request, _, done in
            var request = request
            request.addValue("closure", forHTTPHeaderField: "X-Order")
            done(.success(request))
        }
        for usesState in [true, false] {
            #expect(try order(OlderMethodAdapter(), usesState: usesState) == "older")
            #expect(try order(adapter, usesState: usesState) == "closure")
            #expect(try order(Retrier { $3(.retry) }, usesState: usesState) == "none")
        }
        #expect(try answer(adapter) == "doNotRetry" && answer(OlderMethodAdapter()) == "doNotRetry")
        #expect(try answer(Retrier { $3(.retry) }) == "retry")
    }

    @Test(
        "[I-1.3, I-1.4, I-1.5] adapters run in order, interceptors last, through the chain's own method"
    )
    func adapters() throws {
        let chain = Interceptor(
            adapters: [named("a"), named("b")], retriers: [named("r")], interceptors: [named("i")])
        #expect(chain.adapters.count == 3 && chain.retriers.count == 2)
        #expect(try order(chain) == "a,b,i")
        #expect(seen.all == ["a using", "a for", "b using", "b for", "i using", "i for"])
        #expect(try order(chain, usesState: false) == "a,b,i")
        #expect(seen.all.dropFirst(6) == ["a for", "b for", "i for"])
        #expect(try order(Interceptor()) == "none")
        let failing = Interceptor(adapters: [named("a"), named("bad"), named("c")])
        #expect(try order(failing, usesState: false) == "bad")
        #expect(!seen.all.contains("c for"))
    }

    @Test("[I-1.6] retriers receive the same error in order, until one decides")
    func retriers() throws {
        #expect(try answer(Interceptor()) == "doNotRetry")
        for opinion in [.retry, .retryWithDelay(2), .doNotRetryWithError(BriefError("no"))] as [RetryResult] {
            let chain = Interceptor(
                retriers: [named("a"), named("b", opinion)], interceptors: [named("never", .retry)])
            #expect(try answer(chain) == "\(opinion)")
        }
        #expect(seen.all == ["a why", "b why", "a why", "b why", "a why", "b why"])
        #expect(try answer(Interceptor(retriers: [named("a"), named("b")])) == "doNotRetry")
    }

    @Test("[R-80, I-1.27, I-1.28] adapters and retriers can be added to any interceptor of a request")
    func added() throws {
        final class InterceptorSubclass: Interceptor, @unchecked Sendable {
            override func adapt(
                _ urlRequest: URLRequest, using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) { completion(.failure(BriefError("overridden"))) }
        }
        func names(_ request: DataRequest) throws -> String {
            let interceptor = request.interceptor
            let chain = try #require(interceptor as? Interceptor)
            #expect(type(of: chain) == Interceptor.self)
            return [
                chain.adapters.map { ($0 as? Named)?.name ?? "?" },
                chain.retriers.map { ($0 as? Named)?.name ?? "?" },
            ]
            .map { $0.joined() }.joined(separator: "/")
        }
        func request(_ interceptor: (any RequestInterceptor)?) -> DataRequest {
            session.request("http://origin.test/", interceptor: interceptor)
        }
        let chain = InterceptorSubclass(adapters: [named("a")], retriers: [named("r")])
        let rows: [((any RequestInterceptor)?, [String])] = [
            (nil, ["x/x", "x/", "/x"]),
            (chain, ["ax/rx", "ax/r", "a/rx"]),
            (named("i"), ["ix/ix", "xi/i", "i/xi"]),
        ]
        for (existing, expected) in rows {
            #expect(try names(request(existing).interceptor(named("x"))) == expected[0])
            #expect(try names(request(existing).adapt(using: named("x"))) == expected[1])
            #expect(try names(request(existing).retry(using: named("x"))) == expected[2])
        }
    }

    @Test("[R-81] an added monitor follows the others, on the same queue")
    func monitors() throws {
        let ofSession = EventRecorder()
        let session = Session(startRequestsImmediately: false, eventMonitors: [ofSession])
        let request = session.request("http://origin.test/")
        let (first, second) = (EventRecorder(), EventRecorder())
        request.eventMonitor(first).eventMonitor(second)
        let monitor = try #require(request.eventMonitor as? CompositeEventMonitor)
        #expect(monitor.monitors.map { $0 as? EventRecorder } == [ofSession, first, second])
        #expect(monitor.queue === session.rootQueue)
        #expect(session.eventMonitor.monitors.count == 1)
    }
}

extension EventRecorder: Equatable {
    static func == (left: EventRecorder, right: EventRecorder) -> Bool { left === right }
}
