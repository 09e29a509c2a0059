// SPDX-License-Identifier: MIT

/// One parameter of a SETTINGS frame: RFC 9113 §6.5.1.
package struct Setting: Hashable, Sendable {
    /// The identifier of a setting. Any number is valid; identifiers without a name here are ignored (§6.5.2).
    package struct Identifier: Hashable, Sendable, CustomStringConvertible {
        /// The number on the wire.
        package let rawValue: UInt16

        /// Creates an identifier from its number.
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The size of the dynamic table for header compression (§6.5.2, which also defines the next five).
        package static let headerTableSize = Identifier(rawValue: 0x01)
        /// Whether the receiver may push.
        package static let enablePush = Identifier(rawValue: 0x02)
        /// The number of concurrent streams that the receiver may open.
        package static let maxConcurrentStreams = Identifier(rawValue: 0x03)
        /// The initial window size of streams.
        package static let initialWindowSize = Identifier(rawValue: 0x04)
        /// The largest frame payload.
        package static let maxFrameSize = Identifier(rawValue: 0x05)
        /// The largest header list.
        package static let maxHeaderListSize = Identifier(rawValue: 0x06)
        /// Whether extended CONNECT is allowed (RFC 8441 §3).
        package static let enableConnectProtocol = Identifier(rawValue: 0x08)
        /// Whether the priorities of RFC 7540 are not used (RFC 9218 §2.1).
        package static let noRFC7540Priorities = Identifier(rawValue: 0x09)

        package var description: String {
            switch self {
            case .headerTableSize: "SETTINGS_HEADER_TABLE_SIZE"
            case .enablePush: "SETTINGS_ENABLE_PUSH"
            case .maxConcurrentStreams: "SETTINGS_MAX_CONCURRENT_STREAMS"
            case .initialWindowSize: "SETTINGS_INITIAL_WINDOW_SIZE"
            case .maxFrameSize: "SETTINGS_MAX_FRAME_SIZE"
            case .maxHeaderListSize: "SETTINGS_MAX_HEADER_LIST_SIZE"
            case .enableConnectProtocol: "SETTINGS_ENABLE_CONNECT_PROTOCOL"
            case .noRFC7540Priorities: "SETTINGS_NO_RFC7540_PRIORITIES"
            default: "setting \(rawValue)"
            }
        }
    }

    /// The number of octets of a setting on the wire: two of the identifier, and four of the value.
    static let octetCount = 6

    /// The parameter.
    package var identifier: Identifier
    /// The value of the parameter.
    package var value: UInt32

    /// Creates a setting from a parameter and its value.
    package init(_ identifier: Identifier, _ value: UInt32) {
        self.identifier = identifier
        self.value = value
    }

    /// Throws if `sender` may not set the parameter to this value.
    package func validate(from sender: HTTP2Role) throws(HTTP2Error) {
        let isValid =
            switch identifier {
            // A server may only send 0 (§6.5.2).
            case .enablePush: value <= (sender == .client ? 1 : 0)
            case .initialWindowSize: value <= UInt32(FlowWindow.largest)
            // From 2^14 to 2^24-1 (§6.5.2).
            case .maxFrameSize: (16_384...16_777_215).contains(value)
            case .enableConnectProtocol, .noRFC7540Priorities: value <= 1
            default: true
            }
        if !isValid { throw .invalidSetting(self) }
    }
}

/// The settings of one endpoint of a connection: RFC 9113 §6.5.2.
package struct HTTP2Settings: Hashable, Sendable {
    /// The size in octets of the dynamic table that the other endpoint's encoder may use.
    package var headerTableSize = 4_096
    /// Whether the other endpoint may push.
    package var enablePush = true
    /// The number of streams that the other endpoint may have open; nil for no limit.
    package var maxConcurrentStreams: Int?
    /// The initial flow-control window of a stream: the octets that the other endpoint may send before a WINDOW_UPDATE.
    package var initialWindowSize = 65_535
    /// The largest frame payload, in octets, that the other endpoint may send.
    package var maxFrameSize = 16_384
    /// The largest header list, in octets, that this endpoint accepts; nil for no limit.
    package var maxHeaderListSize: Int?
    /// Whether the other endpoint may send extended CONNECT, with `:protocol`.
    package var enableConnectProtocol = false
    /// Whether this endpoint does not use the priorities of RFC 7540.
    package var noRFC7540Priorities = false

    /// Creates the initial values, which apply before any SETTINGS frame.
    package init() {}

    /// Applies the parameters of a SETTINGS frame in order. `isFirst` is true for the first SETTINGS frame of `sender`.
    /// Throws if a value is invalid.
    package mutating func apply(
        _ settings: [Setting], from sender: HTTP2Role, isFirst: Bool
    ) throws(HTTP2Error) {
        let previous = self
        for setting in settings {
            try setting.validate(from: sender)
            let value = Int(setting.value)
            switch setting.identifier {
            case .headerTableSize: headerTableSize = value
            case .enablePush: enablePush = value == 1
            case .maxConcurrentStreams: maxConcurrentStreams = value
            case .initialWindowSize: initialWindowSize = value
            case .maxFrameSize: maxFrameSize = value
            case .maxHeaderListSize: maxHeaderListSize = value
            case .enableConnectProtocol:
                // The permission cannot be withdrawn (RFC 8441 §3).
                guard value == 1 || !enableConnectProtocol else { throw .invalidSetting(setting) }
                enableConnectProtocol = value == 1
            case .noRFC7540Priorities:
                // Only the first frame may change the value (RFC 9218 §2.1).
                guard isFirst || (value == 1) == previous.noRFC7540Priorities else {
                    throw .invalidSetting(setting)
                }
                noRFC7540Priorities = value == 1
            default: break
            }
        }
    }

    /// The parameters to send in the first SETTINGS frame: those that differ from the initial values.
    package var changesFromInitial: [Setting] { changes(from: HTTP2Settings()) }

    /// Returns the parameters to send: those that differ from `old`. A nil limit is sent as the largest number.
    package func changes(from old: HTTP2Settings) -> [Setting] {
        var settings: [Setting] = []
        func add(_ identifier: Setting.Identifier, _ value: Int?, _ oldValue: Int?) {
            guard value != oldValue else { return }
            settings.append(Setting(identifier, value.map { UInt32(clamping: $0) } ?? .max))
        }
        add(.headerTableSize, headerTableSize, old.headerTableSize)
        add(.enablePush, enablePush ? 1 : 0, old.enablePush ? 1 : 0)
        add(.maxConcurrentStreams, maxConcurrentStreams, old.maxConcurrentStreams)
        add(.initialWindowSize, initialWindowSize, old.initialWindowSize)
        add(.maxFrameSize, maxFrameSize, old.maxFrameSize)
        add(.maxHeaderListSize, maxHeaderListSize, old.maxHeaderListSize)
        add(.enableConnectProtocol, enableConnectProtocol ? 1 : 0, old.enableConnectProtocol ? 1 : 0)
        add(.noRFC7540Priorities, noRFC7540Priorities ? 1 : 0, old.noRFC7540Priorities ? 1 : 0)
        return settings
    }
}
