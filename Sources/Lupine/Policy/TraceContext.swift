// SPDX-License-Identifier: MIT

/// Where a request stands in a distributed trace: what W3C Trace Context (Level 1) sends as `traceparent` and `tracestate`.
///
/// A value. Reading is strict, as the specification asks of whoever takes part in a trace: a header that does not follow its
/// grammar is refused as a whole, one of a later version is read as far as it is known. What is written is always version `00`.
/// Nothing here takes more than one pass over an input of bounded length.
public struct TraceContext: Hashable, Sendable {
    /// The trace, the first and the second eight octets; not both 0.
    private let high: UInt64
    private let low: UInt64
    /// The span; not 0.
    private let span: UInt64
    /// Whether whoever called may have recorded the trace: the one flag that Level 1 knows.
    public var isSampled: Bool
    /// What the systems that take part have to say of the trace.
    public var state: TraceState

    /// The identity of the trace: 32 hexadecimal digits in lower case.
    public var traceID: String { Self.hex(high) + Self.hex(low) }
    /// The identity of the span, which `traceparent` calls the parent: 16 hexadecimal digits in lower case.
    public var spanID: String { Self.hex(span) }

    /// The beginning of a trace, with random identities.
    public init(isSampled: Bool = true) {
        self.init(
            high: .random(in: 0 ... .max), low: .random(in: 1 ... .max), span: Self.newSpan,
            isSampled: isSampled,
            state: TraceState())
    }

    private init(high: UInt64, low: UInt64, span: UInt64, isSampled: Bool, state: TraceState) {
        self.high = high
        self.low = low
        self.span = span
        self.isSampled = isSampled
        self.state = state
    }

    /// The beginning of a trace whose identity is known; nil where it would be nothing but zeros.
    init?(trace: (high: UInt64, low: UInt64), isSampled: Bool) {
        if trace == (0, 0) { return nil }
        self.init(
            high: trace.high, low: trace.low, span: Self.newSpan, isSampled: isSampled, state: TraceState())
    }

    /// The next span of the same trace: same identity of the trace, flag and state, and a random identity of its own.
    public func child() -> TraceContext {
        TraceContext(high: high, low: low, span: Self.newSpan, isSampled: isSampled, state: state)
    }

    private static var newSpan: UInt64 { .random(in: 1 ... .max) }

    // MARK: header fields

    /// Reads the two header fields.
    ///
    /// - Parameters:
    ///   - traceparent: The value of `traceparent`.
    ///   - tracestate: The value of `tracestate`; several fields of that name are joined by commas. One that cannot be read is left
    ///     out, as the specification asks, and is no error.
    /// - Throws: `TraceContextError`, when `traceparent` cannot be read.
    public init(traceparent: String, tracestate: String? = nil) throws(TraceContextError) {
        var text = traceparent
        let parts = try text.withUTF8Span { octets throws(TraceContextError) in try Self.parts(octets) }
        self.init(
            high: parts.high, low: parts.low, span: parts.span, isSampled: parts.isSampled,
            state: tracestate.flatMap { try? TraceState($0) } ?? TraceState())
    }

    /// The value of `traceparent`: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// The value of `tracestate`; nil where there is nothing to say.
    public var tracestate: String? { state.isEmpty ? nil : state.description }

    private struct Parts {
        var high: UInt64 = 0
        var low: UInt64 = 0
        var span: UInt64 = 0
        var isSampled = false
    }

    /// Where things stand in a `traceparent` (section 3.2.2): version, trace-id, parent-id, trace-flags.
    private static let length = 55

    private static func parts(_ octets: Span<UInt8>) throws(TraceContextError) -> Parts {
        guard octets.count >= length else { throw .tooShort(octets.count) }
        let version = try number(octets, 0, digits: 2)
        guard version != 0xFF else { throw .forbiddenVersion }
        if octets.count > length {
            // What a later version has added stands behind another dash.
            guard version > 0 else { throw .tooLong(octets.count) }
            guard octets[length] == UInt8(ascii: "-") else { throw .malformed(offset: length) }
        }
        for offset in [2, 35, 52] where octets[offset] != UInt8(ascii: "-") {
            throw .malformed(offset: offset)
        }
        var parts = Parts()
        parts.high = try number(octets, 3, digits: 16)
        parts.low = try number(octets, 19, digits: 16)
        parts.span = try number(octets, 36, digits: 16)
        parts.isSampled = try number(octets, 53, digits: 2) & 1 == 1
        guard parts.high != 0 || parts.low != 0 else { throw .zeroTraceID }
        guard parts.span != 0 else { throw .zeroSpanID }
        return parts
    }

    /// A number of that many digits, in lower case only.
    private static func number(
        _ octets: Span<UInt8>, _ start: Int, digits: Int
    ) throws(TraceContextError) -> UInt64 {
        var value: UInt64 = 0
        for offset in start..<start + digits {
            let digit: UInt8
            switch octets[offset] {
            case let octet where (0x30...0x39).contains(octet): digit = octet - 0x30
            case let octet where (0x61...0x66).contains(octet): digit = octet - 0x61 + 10
            default: throw .malformed(offset: offset)
            }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension String {
    /// Lends the octets.
    fileprivate mutating func withUTF8Span<Result>(
        _ body: (Span<UInt8>) throws(TraceContextError) -> Result
    ) throws(TraceContextError) -> Result {
        makeContiguousUTF8()
        return try body(utf8.span)
    }
}

/// Why a `traceparent` or a `tracestate` cannot be read.
public enum TraceContextError: Error, Hashable, Sendable {
    /// So few octets are no `traceparent`.
    case tooShort(Int)
    /// More octets than there may be.
    case tooLong(Int)
    /// What stands at this octet may not stand there.
    case malformed(offset: Int)
    /// Version `ff`, which there is not.
    case forbiddenVersion
    /// The identity of the trace is nothing but zeros.
    case zeroTraceID
    /// The identity of the span is nothing but zeros.
    case zeroSpanID
    /// A `tracestate` has more than 32 members.
    case tooManyMembers
    /// A key of a `tracestate` comes twice.
    case duplicateKey(String)
    /// No key of a `tracestate`.
    case invalidKey
    /// No value of a `tracestate`.
    case invalidValue
}
