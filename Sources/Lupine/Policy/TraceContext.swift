// SPDX-License-Identifier: MIT

/// The position of a request in a distributed trace: the content of the header fields `traceparent` and `tracestate` of W3C
/// Trace Context (Level 1).
///
/// Parsing is strict, as the specification requires: a header field that violates the grammar is rejected as a whole. If a
/// `traceparent` has a later version than `00`, only the part that version `00` defines is read. The written version is always
/// `00`. Every parser makes a single pass over an input of bounded length.
public struct TraceContext: Hashable, Sendable {
    /// The first eight octets of the trace ID, as a number. `traceIDHigh` and `traceIDLow` are not both 0.
    private let traceIDHigh: UInt64
    /// The last eight octets of the trace ID, as a number.
    private let traceIDLow: UInt64
    /// The span ID as a number; never 0.
    private let spanIDNumber: UInt64
    /// The sampled flag, the only flag of Level 1: whether the caller may have recorded the trace.
    public var isSampled: Bool
    /// The vendor-specific data that systems have added to the trace.
    public var state: TraceState

    /// The trace ID: 32 hexadecimal digits in lower case.
    public var traceID: String { Self.hexDigits(of: traceIDHigh) + Self.hexDigits(of: traceIDLow) }
    /// The span ID, which `traceparent` calls the parent ID: 16 hexadecimal digits in lower case.
    public var spanID: String { Self.hexDigits(of: spanIDNumber) }

    /// Starts a trace with a random trace ID and a random span ID.
    public init(isSampled: Bool = true) {
        // The low half is never 0, so neither is the trace ID.
        self.init(
            traceIDHigh: .random(in: 0 ... .max), traceIDLow: .random(in: 1 ... .max),
            spanIDNumber: Self.randomSpanID, isSampled: isSampled, state: TraceState())
    }

    private init(
        traceIDHigh: UInt64, traceIDLow: UInt64, spanIDNumber: UInt64, isSampled: Bool, state: TraceState
    ) {
        self.traceIDHigh = traceIDHigh
        self.traceIDLow = traceIDLow
        self.spanIDNumber = spanIDNumber
        self.isSampled = isSampled
        self.state = state
    }

    /// Starts a trace with this trace ID. Returns nil if it is all zeros.
    init?(trace: (high: UInt64, low: UInt64), isSampled: Bool) {
        if trace == (0, 0) { return nil }
        self.init(
            traceIDHigh: trace.high, traceIDLow: trace.low, spanIDNumber: Self.randomSpanID,
            isSampled: isSampled, state: TraceState())
    }

    /// Returns a child span: the trace ID, the flag and the state are the same, the span ID is random.
    public func child() -> TraceContext {
        TraceContext(
            traceIDHigh: traceIDHigh, traceIDLow: traceIDLow, spanIDNumber: Self.randomSpanID,
            isSampled: isSampled, state: state)
    }

    /// A random number other than 0.
    private static var randomSpanID: UInt64 { .random(in: 1 ... .max) }

    // MARK: header fields

    /// Parses the two header fields.
    ///
    /// - Parameters:
    ///   - traceparent: The value of `traceparent`.
    ///   - tracestate: The value of `tracestate`; several fields of that name are joined by commas. An invalid value is
    ///     ignored, as the specification requires, and is not an error.
    /// - Throws: `TraceContextError`, when `traceparent` is invalid.
    public init(traceparent: String, tracestate: String? = nil) throws(TraceContextError) {
        var text = traceparent
        let parsed = try text.withUTF8Span { octets throws(TraceContextError) in try Self.parse(octets) }
        self.init(
            traceIDHigh: parsed.traceIDHigh, traceIDLow: parsed.traceIDLow,
            spanIDNumber: parsed.spanIDNumber, isSampled: parsed.isSampled,
            state: tracestate.flatMap { try? TraceState($0) } ?? TraceState())
    }

    /// The value of `traceparent`: `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01`.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    /// The value of `tracestate`; nil when it is empty.
    public var tracestate: String? { state.isEmpty ? nil : state.description }

    /// The fields of a `traceparent`.
    private struct ParsedTraceparent {
        var traceIDHigh: UInt64 = 0
        var traceIDLow: UInt64 = 0
        var spanIDNumber: UInt64 = 0
        var isSampled = false
    }

    /// The length of a `traceparent` (section 3.2.2): version, trace-id, parent-id, trace-flags.
    private static let traceparentLength = 55

    /// Parses a `traceparent`. Dashes separate its four fields: the version (2 digits at offset 0), the trace ID (32 at 3), the
    /// parent ID (16 at 36) and the flags (2 at 53).
    private static func parse(_ octets: Span<UInt8>) throws(TraceContextError) -> ParsedTraceparent {
        guard octets.count >= traceparentLength else { throw .tooShort(octets.count) }
        let version = try parseNumber(octets, at: 0, digits: 2)
        guard version != 0xFF else { throw .forbiddenVersion }
        if octets.count > traceparentLength {
            // A later version may append fields, after another dash.
            guard version > 0 else { throw .tooLong(octets.count) }
            guard octets[traceparentLength] == UInt8(ascii: "-") else {
                throw .malformed(offset: traceparentLength)
            }
        }
        for offset in [2, 35, 52] where octets[offset] != UInt8(ascii: "-") {
            throw .malformed(offset: offset)
        }
        var parsed = ParsedTraceparent()
        parsed.traceIDHigh = try parseNumber(octets, at: 3, digits: 16)
        parsed.traceIDLow = try parseNumber(octets, at: 19, digits: 16)
        parsed.spanIDNumber = try parseNumber(octets, at: 36, digits: 16)
        // The sampled flag is bit 0; Level 1 defines no other flag.
        parsed.isSampled = try parseNumber(octets, at: 53, digits: 2) & 1 == 1
        guard parsed.traceIDHigh != 0 || parsed.traceIDLow != 0 else { throw .zeroTraceID }
        guard parsed.spanIDNumber != 0 else { throw .zeroSpanID }
        return parsed
    }

    /// Parses a number of that many hexadecimal digits, in lower case only.
    private static func parseNumber(
        _ octets: Span<UInt8>, at start: Int, digits: Int
    ) throws(TraceContextError) -> UInt64 {
        var value: UInt64 = 0
        for offset in start..<start + digits {
            let digit: UInt8
            switch octets[offset] {
            // "0" to "9", "a" to "f".
            case let octet where (0x30...0x39).contains(octet): digit = octet - 0x30
            case let octet where (0x61...0x66).contains(octet): digit = octet - 0x61 + 10
            default: throw .malformed(offset: offset)
            }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// Returns the value as 16 hexadecimal digits in lower case.
    private static func hexDigits(of value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension String {
    /// Calls `body` with the UTF-8 octets. The method is mutating, because it first makes the string contiguous.
    fileprivate mutating func withUTF8Span<Result>(
        _ body: (Span<UInt8>) throws(TraceContextError) -> Result
    ) throws(TraceContextError) -> Result {
        makeContiguousUTF8()
        return try body(utf8.span)
    }
}

/// The reason why a `traceparent` or a `tracestate` is invalid.
public enum TraceContextError: Error, Hashable, Sendable {
    /// The value has this number of octets, which is too small for a `traceparent`.
    case tooShort(Int)
    /// The value has this number of octets, which is too large.
    case tooLong(Int)
    /// The octet at this offset is not allowed.
    case malformed(offset: Int)
    /// The version is `ff`, which is forbidden.
    case forbiddenVersion
    /// The trace ID is all zeros.
    case zeroTraceID
    /// The span ID is all zeros.
    case zeroSpanID
    /// A `tracestate` has more than 32 members.
    case tooManyMembers
    /// A key of a `tracestate` occurs twice.
    case duplicateKey(String)
    /// The key is not allowed in a `tracestate`.
    case invalidKey
    /// The value is not allowed in a `tracestate`.
    case invalidValue
}
