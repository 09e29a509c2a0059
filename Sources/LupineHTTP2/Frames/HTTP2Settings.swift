// SPDX-License-Identifier: MIT

/// One parameter of a SETTINGS frame: RFC 9113 §6.5.1.
package struct Setting: Hashable, Sendable {
    /// What is set. Any number is one; those that have no name here are ignored (§6.5.2).
    package struct Identifier: Hashable, Sendable, CustomStringConvertible {
        /// The number on the wire.
        package let rawValue: UInt16

        /// An identifier of any number.
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// §6.5.2, as the five that follow.
        package static let headerTableSize = Identifier(rawValue: 0x01)
        /// Whether the other end may push.
        package static let enablePush = Identifier(rawValue: 0x02)
        /// Streams that the other end may have open.
        package static let maxConcurrentStreams = Identifier(rawValue: 0x03)
        /// The window of new streams.
        package static let initialWindowSize = Identifier(rawValue: 0x04)
        /// The longest payload.
        package static let maxFrameSize = Identifier(rawValue: 0x05)
        /// The largest header list.
        package static let maxHeaderListSize = Identifier(rawValue: 0x06)
        /// RFC 8441 §3.
        package static let enableConnectProtocol = Identifier(rawValue: 0x08)
        /// RFC 9218 §2.1.
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

    /// What is set.
    package var identifier: Identifier
    /// To what it is set.
    package var value: UInt32

    /// A parameter and its value.
    package init(_ identifier: Identifier, _ value: UInt32) {
        self.identifier = identifier
        self.value = value
    }

    /// Throws when `sender` may not give the parameter that value.
    package func validate(from sender: HTTP2Role) throws(HTTP2Error) {
        let isValid =
            switch identifier {
            // A server may say no more than that it does not push (§6.5.2).
            case .enablePush: value <= (sender == .client ? 1 : 0)
            case .initialWindowSize: value <= UInt32(FlowWindow.largest)
            case .maxFrameSize: (16_384...16_777_215).contains(value)
            case .enableConnectProtocol, .noRFC7540Priorities: value <= 1
            default: true
            }
        if !isValid { throw .invalidSetting(self) }
    }
}

/// What one end of a connection has set: RFC 9113 §6.5.2.
package struct HTTP2Settings: Hashable, Sendable {
    /// Octets of the dynamic table that the other end's encoder may use.
    package var headerTableSize = 4_096
    /// Whether the other end may push.
    package var enablePush = true
    /// Streams that the other end may have open; nil for any number.
    package var maxConcurrentStreams: Int?
    /// Octets that the other end may send on a stream before it is given more.
    package var initialWindowSize = 65_535
    /// Octets of the longest payload that the other end may send.
    package var maxFrameSize = 16_384
    /// Octets of the largest header list that this end wants to get; nil for any number.
    package var maxHeaderListSize: Int?
    /// Whether the other end may ask for a protocol with CONNECT.
    package var enableConnectProtocol = false
    /// Whether this end takes no notice of the priorities of RFC 7540.
    package var noRFC7540Priorities = false

    /// What holds before any setting.
    package init() {}

    /// Takes over the parameters of a SETTINGS frame, in their order. `isFirst` says that it is the first frame of `sender`.
    package mutating func apply(
        _ settings: [Setting], from sender: HTTP2Role, isFirst: Bool
    ) throws(HTTP2Error) {
        let before = self
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
                // What was allowed stays allowed (RFC 8441 §3).
                guard value == 1 || !enableConnectProtocol else { throw .invalidSetting(setting) }
                enableConnectProtocol = value == 1
            case .noRFC7540Priorities:
                // Only the first frame may say it (RFC 9218 §2.1).
                guard isFirst || (value == 1) == before.noRFC7540Priorities else {
                    throw .invalidSetting(setting)
                }
                noRFC7540Priorities = value == 1
            default: break
            }
        }
    }

    /// The parameters that differ from what holds before any setting, to be sent.
    package var changed: [Setting] { changes(from: HTTP2Settings()) }

    /// The parameters that differ from those of `old`, to be sent. A number that may be any is sent as the largest one.
    package func changes(from old: HTTP2Settings) -> [Setting] {
        var settings: [Setting] = []
        func add(_ identifier: Setting.Identifier, _ value: Int?, _ old: Int?) {
            guard value != old else { return }
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
