// SPDX-License-Identifier: MIT

internal import Foundation
public import LupineLoading

/// Gives each attempt of a request its place in a distributed trace: the header fields `traceparent` and `tracestate` of W3C Trace
/// Context.
///
/// What the request is a part of is, in this order: the `traceparent` that the program has set for the request, what `parent`
/// gives, or else a trace of its own. Each attempt is a new span of it: a retry has the same trace as the attempt before and
/// another span, and so has whatever server the request reaches. A trace of its own has the digits of the request's `id`, so
/// that it is the same for all its attempts. A redirect that is followed takes the fields along as they are.
///
/// A `traceparent` of the program's that cannot be read counts as none, and its `tracestate` goes with it.
public struct TraceContextInterceptor: RequestInterceptor {
    private let isSampled: Bool
    private let parent: @Sendable (_ request: URLRequest) -> TraceContext?

    /// An interceptor.
    ///
    /// - Parameters:
    ///   - isSampled: Whether traces that begin with a request say that they may be recorded.
    ///   - parent: Gives what a request is a part of that says nothing itself; nil begins a trace. Called where adapters
    ///     are, mostly on the session's request queue: not in the task that made the request.
    public init(
        isSampled: Bool = true,
        parent: @escaping @Sendable (_ request: URLRequest) -> TraceContext? = { _ in nil }
    ) {
        self.isSampled = isSampled
        self.parent = parent
    }

    /// Sets the two header fields.
    public func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        let context = self.context(of: urlRequest, state.requestID)
        var request = urlRequest
        request.headers.update(context)
        completion(.success(request))
    }

    private func context(of request: URLRequest, _ id: UUID) -> TraceContext {
        if let text = request.value(forHTTPHeaderField: "traceparent"),
            let own = try? TraceContext(
                traceparent: text, tracestate: request.value(forHTTPHeaderField: "tracestate"))
        {
            return own.child()
        }
        assertNoLockIsHeld()
        if let parent = parent(request) { return parent.child() }
        let digits = id.uuidString.filter { $0 != "-" }
        let trace = (
            high: UInt64(digits.prefix(16), radix: 16) ?? 0, low: UInt64(digits.suffix(16), radix: 16) ?? 0
        )
        return TraceContext(trace: trace, isSampled: isSampled) ?? TraceContext(isSampled: isSampled)
    }
}

extension RequestInterceptor where Self == TraceContextInterceptor {
    /// Gives each attempt of a request its place in a trace that begins with the request, or goes on from its `traceparent`.
    public static var traceContext: TraceContextInterceptor { TraceContextInterceptor() }
}

extension HTTPHeaders {
    /// Says what a request is a part of, for `TraceContextInterceptor` and for servers: sets `traceparent` and `tracestate`.
    public mutating func update(_ context: TraceContext) {
        update(name: "traceparent", value: context.traceparent)
        if let tracestate = context.tracestate {
            update(name: "tracestate", value: tracestate)
        } else {
            remove(name: "tracestate")
        }
    }
}
