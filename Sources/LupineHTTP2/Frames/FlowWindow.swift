// SPDX-License-Identifier: MIT

/// What can be wrong with the flow control of a stream or connection: FLOW_CONTROL_ERROR (RFC 9113 §6.9).
package enum FlowControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The window would be larger than 2^31-1 (§6.9.1, §6.9.2).
    case overflow(window: Int, increment: Int)
    /// More came than the window had room for.
    case exceeded(window: Int, count: Int)

    /// What the peer is told.
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

/// How many octets of DATA one end may still send, on a stream or on the connection: RFC 9113 §5.2 and §6.9.
///
/// A window is negative when SETTINGS_INITIAL_WINDOW_SIZE was reduced below what had been sent (§6.9.2).
package struct FlowWindow: Hashable, Sendable {
    /// The largest size: 2^31-1.
    package static let largest = 0x7FFF_FFFF
    /// The size before any setting.
    package static let initial = 65_535

    /// Octets, or how many were sent too many.
    package private(set) var size: Int

    /// A window of that size; nothing above the largest is taken.
    package init(_ size: Int = initial) { self.size = min(size, Self.largest) }

    /// How much may be sent now.
    package var available: Int { max(size, 0) }

    /// WINDOW_UPDATE gives more room.
    package mutating func credit(_ increment: Int) throws(FlowControlError) {
        guard increment <= Self.largest, size &+ increment <= Self.largest else {
            throw .overflow(window: size, increment: increment)
        }
        size &+= increment
    }

    /// DATA takes room: all of its payload, with padding.
    package mutating func debit(_ count: Int) throws(FlowControlError) {
        // A frame without a payload needs no room, also where there is less than none.
        guard count <= available else { throw .exceeded(window: size, count: count) }
        size &-= count
    }

    /// SETTINGS_INITIAL_WINDOW_SIZE changes: every stream's window moves by the difference, the connection's does not.
    package mutating func changeInitial(from old: Int, to new: Int) throws(FlowControlError) {
        let difference = min(new, Self.largest) &- min(old, Self.largest)
        guard size &+ difference <= Self.largest else {
            throw .overflow(window: size, increment: difference)
        }
        size &+= difference
    }
}
