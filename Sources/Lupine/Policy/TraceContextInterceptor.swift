// SPDX-License-Identifier: MIT

internal import Foundation
public import LupineLoading

/// Adds each attempt of a request to a distributed trace: sets the header fields `traceparent` and `tracestate` of W3C Trace
/// Context.
///
/// If the request has a `traceparent`, the interceptor continues its trace. Otherwise it continues the trace that the `parent`
/// closure returns. If the closure returns nil, the interceptor starts a new trace. The new trace ID consists of the digits of
/// the request's `id`, so that all attempts share it. Each attempt is a new span: a retry has the same trace ID as the attempt
/// before and another span ID. Requests that follow redirects carry the same fields.
///
/// An invalid `traceparent` of the request is ignored, together with its `tracestate`.
public struct TraceContextInterceptor: RequestInterceptor {
    /// Whether new traces set the sampled flag.
    private let isSampled: Bool
    /// Returns the parent of a request that has no `traceparent`.
    private let parent: @Sendable (_ request: URLRequest) -> TraceContext?

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - isSampled: Whether new traces set the sampled flag.
    ///   - parent: Returns the parent of a request that has no `traceparent`; nil starts a new trace. Called on the queue on
    ///     which adapters are called, usually the session's request queue. Task-local values of the task that created the
    ///     request are not available there.
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
        let context = self.context(of: urlRequest, requestID: state.requestID)
        var request = urlRequest
        request.headers.update(context)
        completion(.success(request))
    }

    /// Returns a child of the request's parent, or the root of a new trace.
    private func context(of request: URLRequest, requestID: UUID) -> TraceContext {
        if let traceparent = request.value(forHTTPHeaderField: "traceparent"),
            let context = try? TraceContext(
                traceparent: traceparent, tracestate: request.value(forHTTPHeaderField: "tracestate"))
        {
            return context.child()
        }
        assertNoLockIsHeld()
        if let parent = parent(request) { return parent.child() }
        // A UUID has 32 hexadecimal digits: 16 for each half of the trace ID.
        let digits = requestID.uuidString.filter { $0 != "-" }
        let trace = (
            high: UInt64(digits.prefix(16), radix: 16) ?? 0, low: UInt64(digits.suffix(16), radix: 16) ?? 0
        )
        // An `id` of zeros is not a valid trace ID.
        return TraceContext(trace: trace, isSampled: isSampled) ?? TraceContext(isSampled: isSampled)
    }
}

extension RequestInterceptor where Self == TraceContextInterceptor {
    /// An interceptor that starts a trace for each request, or continues the trace of its `traceparent`.
    public static var traceContext: TraceContextInterceptor { TraceContextInterceptor() }
}

extension HTTPHeaders {
    /// Sets `traceparent` and `tracestate`, which `TraceContextInterceptor` and servers read.
    public mutating func update(_ context: TraceContext) {
        update(name: "traceparent", value: context.traceparent)
        if let tracestate = context.tracestate {
            update(name: "tracestate", value: tracestate)
        } else {
            remove(name: "tracestate")
        }
    }
}
