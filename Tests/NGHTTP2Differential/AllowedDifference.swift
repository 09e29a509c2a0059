// SPDX-License-Identifier: MIT

import LupineHTTP2

/// A step that has different outcomes at the two ends.
struct Difference {
    let role: HTTP2Role
    let frame: WireFrame
    let own: Verdict.Outcome
    let other: Verdict.Outcome
    /// How this end describes its error.
    let reason: String
    /// Whether this end has reset the frame's stream before.
    let wasReset: Bool

    fileprivate func isOn(_ types: FrameType...) -> Bool { types.contains(frame.type) }
    fileprivate func isWhole(_ own: Verdict.Outcome, _ other: Verdict.Outcome) -> Bool {
        self.own == own && self.other == other
    }
}

/// A case that this end treats differently from nghttp2, with the reason why it may.
struct AllowedDifference: Sendable {
    let name: String
    /// The section that requires this, or leaves the choice.
    let section: String
    private let covers: @Sendable (Difference) -> Bool

    init(_ name: String, _ section: String, _ covers: @escaping @Sendable (Difference) -> Bool) {
        (self.name, self.section, self.covers) = (name, section, covers)
    }

    /// Returns the case that a difference belongs to; nil if it is not a known one.
    static func explaining(_ difference: Difference) -> AllowedDifference? {
        all.first { $0.covers(difference) }
    }

    private static let all = stricter + milder + otherwise

    /// Cases in which this end does not tolerate what nghttp2 ignores.
    private static let stricter = [
        AllowedDifference("frames behind the peer's RST_STREAM", "RFC 9113 §5.1") {
            $0.isOn(.headers, .data) && $0.isWhole(.stream(.streamClosed), .goesOn)
        },
        AllowedDifference("frames behind the end of both sides", "RFC 9113 §5.1") {
            $0.isOn(.headers, .data) && $0.isWhole(.connection(.streamClosed), .goesOn)
        },
        AllowedDifference("frames on a stream that was passed over", "RFC 9113 §5.1.1") {
            $0.role == .server && $0.isOn(.headers, .data, .rstStream, .windowUpdate)
                && $0.isWhole(.connection(.protocolError), .goesOn) && $0.reason.contains("whose state")
        },
        AllowedDifference("padding that does not fit, on a stream that is over", "RFC 9113 §6.1") {
            $0.isOn(.data) && $0.isWhole(.connection(.protocolError), .goesOn)
                && $0.reason.contains("octets of padding")
        },
        AllowedDifference("a setting that cannot be, before the same setting", "RFC 9113 §6.5.3") {
            $0.isOn(.settings) && $0.other == .goesOn && $0.reason.hasPrefix("SETTINGS_")
                && [.connection(.protocolError), .connection(.flowControlError)].contains($0.own)
        },
        AllowedDifference("host is another one than :authority", "RFC 9113 §8.3.1") {
            $0.isOn(.headers) && $0.isWhole(.stream(.protocolError), .goesOn)
                && $0.reason.hasPrefix(":authority is")
        },
        AllowedDifference("a priority of a stream that no client opens", "RFC 9218 §7.1") {
            $0.isOn(.priorityUpdate) && $0.isWhole(.connection(.protocolError), .goesOn)
                && $0.reason.contains("may not be opened")
        },
        AllowedDifference("PRIORITY_UPDATE on a stream, or of stream 0", "RFC 9218 §7.1") {
            $0.isOn(.priorityUpdate) && $0.isWhole(.connection(.protocolError), .goesOn)
                && ($0.frame.stream != 0 || $0.reason.hasSuffix("stream 0"))
        },
        AllowedDifference("a setting that takes a stream's window too far", "RFC 9113 §6.9.2") {
            $0.isOn(.settings) && $0.isWhole(.connection(.flowControlError), .stream(.flowControlError))
        },
    ]

    /// Cases in which this end ends a stream, or nothing, and nghttp2 the connection.
    private static let milder = [
        AllowedDifference("a stream that depends on itself: priorities mean nothing", "RFC 9113 §5.3.2") {
            $0.isOn(.priority, .headers) && $0.other == .connection(.protocolError)
                && $0.frame.dependsOnItself
        },
        AllowedDifference("PRIORITY of a wrong length", "RFC 9113 §6.3") {
            $0.isOn(.priority) && $0.other == .connection(.frameSizeError)
                && [.stream(.frameSizeError), .goesOn].contains($0.own)
        },
        AllowedDifference("WINDOW_UPDATE of nothing on a stream", "RFC 9113 §6.9") {
            $0.isOn(.windowUpdate) && $0.isWhole(.stream(.protocolError), .connection(.protocolError))
        },
        AllowedDifference("content in front of the head", "RFC 9113 §8.1.1") {
            $0.role == .client && $0.isOn(.data)
                && $0.isWhole(.stream(.protocolError), .connection(.protocolError))
        },
        AllowedDifference("frames behind the peer's END_STREAM", "RFC 9113 §5.1") {
            $0.isOn(.headers, .data) && $0.isWhole(.stream(.streamClosed), .connection(.streamClosed))
        },
        AllowedDifference("frames behind END_STREAM on a stream that this end has reset", "RFC 9113 §5.1") {
            $0.wasReset && $0.isOn(.headers, .data) && $0.isWhole(.goesOn, .connection(.streamClosed))
        },
        AllowedDifference("GOAWAY that names a stream which this end cannot open", "RFC 9113 §6.8") {
            $0.isOn(.goAway) && $0.isWhole(.goesOn, .connection(.protocolError))
                && $0.frame.payload[3] & 1 == ($0.role == .server ? 1 : 0)
        },
        AllowedDifference("content-length in a response that has no content", "RFC 9113 §8.1.1") {
            $0.role == .client && $0.isOn(.headers) && $0.isWhole(.goesOn, .stream(.protocolError))
                && $0.frame.holds("204") && $0.frame.holds("content-length")
        },
        AllowedDifference("content-length in an interim head", "RFC 9110 §8.6") {
            $0.role == .client && $0.isOn(.headers) && $0.isWhole(.goesOn, .stream(.protocolError))
                && ($0.frame.holds("100") || $0.frame.holds("103")) && $0.frame.holds("content-length")
        },
        AllowedDifference("content-length among the trailers, which is left out", "RFC 9110 §6.5.1") {
            $0.isOn(.headers) && $0.isWhole(.goesOn, .stream(.protocolError))
                && !$0.frame.holds(":") && $0.frame.holds("content-length")
        },
    ]

    /// Cases in which both end the connection, or will, and with different codes.
    private static let otherwise = [
        AllowedDifference("a header block is judged when it is whole", "RFC 9113 §4.3") {
            $0.isOn(.headers) && $0.frame.flags & 0x04 == 0 && $0.own == .goesOn
        },
        AllowedDifference("on a wrong stream and of a wrong length", "RFC 9113 §5.4") {
            $0.isOn(.ping, .goAway, .settings, .rstStream, .priority, .priorityUpdate)
                && $0.isWhole(.connection(.protocolError), .connection(.frameSizeError))
        },
        AllowedDifference("of a wrong length and not allowed", "RFC 9113 §5.4") {
            $0.isOn(.pushPromise)
                && $0.isWhole(.connection(.frameSizeError), .connection(.protocolError))
        },
        AllowedDifference("a block that cannot be decoded, on a wrong stream", "RFC 9113 §5.4") {
            $0.isOn(.headers) && $0.own == .connection(.compressionError)
                && [.connection(.protocolError), .connection(.streamClosed)].contains($0.other)
        },
        AllowedDifference("wrong by itself, on a stream that is over", "RFC 9113 §5.4") {
            $0.isOn(.data, .headers)
                && $0.isWhole(.connection(.protocolError), .connection(.streamClosed))
        },
    ]
}

extension WireFrame {
    /// Whether the frame has a priority that makes its stream depend on itself.
    fileprivate var dependsOnItself: Bool {
        guard type == .priority || flags & 0x20 != 0 else { return false }
        let start = type == .headers && flags & 0x08 != 0 ? 1 : 0
        return payload.count >= start + 4
            && PackedFields.number(payload[start..<(start + 4)]) & 0x7FFF_FFFF == Int(stream & 0x7FFF_FFFF)
    }

    fileprivate func holds(_ text: String) -> Bool {
        String(decoding: payload, as: UTF8.self).contains(text)
    }
}
