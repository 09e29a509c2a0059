// SPDX-License-Identifier: MIT

import Synchronization

/// Stands in for swift-distributed-tracing's `Span` in the tests of the bridges in `Observability.md`: declares the names that
/// they use with the same signatures. The module is not called like the package's, because module names must be unique in a
/// package graph.
public protocol Span: Sendable {
    var attributes: SpanAttributes { get nonmutating set }
    func setStatus(_ status: SpanStatus)
    func recordError(_ error: any Error)
    func end()
}

/// The attributes of a span.
public struct SpanAttributes: Sendable {
    private var values: [String: SpanAttribute] = [:]

    public subscript(name: String) -> SpanAttribute? {
        get { values[name] }
        set { values[name] = newValue }
    }
}

/// The value of an attribute.
public enum SpanAttribute: Equatable, Sendable {
    case int64(Int64)
    case string(String)
}

/// The status of a span.
public struct SpanStatus: Sendable {
    public enum Code: Sendable { case ok, error }

    public let code: Code
    public let message: String?

    public init(code: Code, message: String? = nil) {
        self.code = code
        self.message = message
    }
}

/// The kind of operation that a span describes.
public enum SpanKind: Sendable { case server, client, `internal` }

/// The context that contains a span's parent.
public struct ServiceContext: Sendable {
    public static var topLevel: ServiceContext { ServiceContext() }
    /// The `traceparent` that the instrument has found.
    public var traceparent: String?
}

/// Reads a key from a carrier of a context.
public protocol Extractor<Carrier>: Sendable {
    associatedtype Carrier
    func extract(key: String, from carrier: Carrier) -> String?
}

/// Reads the fields of W3C Trace Context.
public struct Instrument: Sendable {
    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context.traceparent = extractor.extract(key: "traceparent", from: carrier)
    }
}

/// The instrument and the tracer of the process.
public enum InstrumentationSystem {
    public static var instrument: Instrument { Instrument() }
    /// The spans that have ended.
    public static var ended: [EndedSpan] { spans.withLock { $0 } }
    fileprivate static let spans = Mutex<[EndedSpan]>([])
}

/// A span that has ended.
public struct EndedSpan: Sendable {
    public let name: String
    public let kind: SpanKind
    public let parent: ServiceContext
    public let attributes: SpanAttributes
    public let status: SpanStatus?
    public let errors: Int
}

/// Starts a span.
public func startSpan(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind = .internal
) -> any Span {
    RunningSpan(operationName, context(), kind)
}

private final class RunningSpan: Span {
    private struct State {
        var attributes = SpanAttributes()
        var status: SpanStatus?
        var errors = 0
    }

    private let name: String
    private let parent: ServiceContext
    private let kind: SpanKind
    private let state = Mutex(State())

    init(_ name: String, _ parent: ServiceContext, _ kind: SpanKind) {
        self.name = name
        self.parent = parent
        self.kind = kind
    }

    var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { state.withLock { $0.attributes = newValue } }
    }

    func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    func recordError(_ error: any Error) { state.withLock { $0.errors += 1 } }

    func end() {
        let state = state.withLock { $0 }
        let ended = EndedSpan(
            name: name, kind: kind, parent: parent, attributes: state.attributes, status: state.status,
            errors: state.errors)
        InstrumentationSystem.spans.withLock { $0.append(ended) }
    }
}
