// SPDX-License-Identifier: MIT

/// A violation of the flow control of a stream or connection: FLOW_CONTROL_ERROR (RFC 9113 §6.9).
package enum FlowControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The window would be larger than 2^31-1 (§6.9.1, §6.9.2).
    case overflow(window: Int, increment: Int)
    /// The peer sent more octets than the window allowed.
    case exceeded(window: Int, count: Int)

    /// The error code that is sent to the peer.
    package var code: HTTP2ErrorCode { .flowControlError }

    package var description: String {
        switch self {
        case .overflow(let window, let increment):
            "\(increment) more octets take a flow-control window of \(window) over its largest size"
        case .exceeded(let window, let count):
            "\(count) octets came into a flow-control window of \(window)"
        }
    }
}

/// A flow-control window: the number of octets of DATA that one endpoint may still send, on a stream or on the connection
/// (RFC 9113 §5.2 and §6.9).
///
/// A window becomes negative if SETTINGS_INITIAL_WINDOW_SIZE is reduced by more octets than the window has left (§6.9.2).
package struct FlowWindow: Hashable, Sendable {
    /// The largest size: 2^31-1.
    package static let largest = 0x7FFF_FFFF
    /// The size of a new window without any setting (§6.9.2).
    package static let initial = 65_535

    /// The number of octets that may be sent. If it is negative, nothing may be sent until WINDOW_UPDATE has made it positive.
    package private(set) var size: Int

    /// Creates a window of a size, limited to `largest`.
    package init(_ size: Int = initial) { self.size = min(size, Self.largest) }

    /// The number of octets that may be sent now: 0 if the window is negative.
    package var available: Int { max(size, 0) }

    /// Enlarges the window, as WINDOW_UPDATE does. Throws if the window would be larger than `largest`.
    package mutating func credit(_ increment: Int) throws(FlowControlError) {
        // The first condition keeps the sum from overflowing.
        guard increment <= Self.largest, size &+ increment <= Self.largest else {
            throw .overflow(window: size, increment: increment)
        }
        size &+= increment
    }

    /// Takes `count` octets out of the window: the payload of a DATA frame, including padding. Throws if the window has fewer.
    package mutating func debit(_ count: Int) throws(FlowControlError) {
        // A frame without a payload is allowed even if the window is negative.
        guard count <= available else { throw .exceeded(window: size, count: count) }
        size &-= count
    }

    /// Applies a change of SETTINGS_INITIAL_WINDOW_SIZE to the window of a stream, which changes by the same difference. The
    /// setting does not change the window of the connection.
    package mutating func changeInitial(from oldSize: Int, to newSize: Int) throws(FlowControlError) {
        let difference = min(newSize, Self.largest) &- min(oldSize, Self.largest)
        guard size &+ difference <= Self.largest else {
            throw .overflow(window: size, increment: difference)
        }
        size &+= difference
    }
}
