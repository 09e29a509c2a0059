// SPDX-License-Identifier: MIT

import LupineHTTP2
import Testing

/// Tests of the legal values of settings, and of their effects (RFC 9113 §6.5.2).
@Suite struct HTTP2SettingsTests {
    struct Row: CustomTestStringConvertible {
        let identifier: Setting.Identifier
        let value: UInt32
        let sender: HTTP2Role
        /// The error code if the value is illegal.
        let code: HTTP2ErrorCode?
        var testDescription: String { "\(identifier) = \(value) of the \(sender)" }

        init(
            _ identifier: Setting.Identifier, _ value: UInt32, of sender: HTTP2Role = .client,
            _ code: HTTP2ErrorCode? = nil
        ) {
            (self.identifier, self.value, self.sender, self.code) = (identifier, value, sender, code)
        }
    }

    static let rows: [Row] = [
        Row(.headerTableSize, 0), Row(.headerTableSize, .max, of: .server),
        Row(.enablePush, 0), Row(.enablePush, 1), Row(.enablePush, 2, .protocolError),
        Row(.enablePush, 0, of: .server), Row(.enablePush, 1, of: .server, .protocolError),
        Row(.maxConcurrentStreams, 0), Row(.maxConcurrentStreams, .max),
        Row(.initialWindowSize, 0), Row(.initialWindowSize, 0x7FFF_FFFF),
        Row(.initialWindowSize, 0x8000_0000, of: .server, .flowControlError),
        Row(.maxFrameSize, 16_383, .protocolError), Row(.maxFrameSize, 16_384),
        Row(.maxFrameSize, 16_777_215), Row(.maxFrameSize, 16_777_216, of: .server, .protocolError),
        Row(.maxHeaderListSize, 0), Row(.maxHeaderListSize, .max),
        Row(.enableConnectProtocol, 1, of: .server),
        Row(.enableConnectProtocol, 2, of: .server, .protocolError),
        Row(.noRFC7540Priorities, 1), Row(.noRFC7540Priorities, 2, .protocolError),
        Row(Setting.Identifier(rawValue: 0x4242), .max),
    ]

    @Test("[H-6.8] the values of each setting", arguments: rows) func values(_ row: Row) throws {
        let setting = Setting(row.identifier, row.value)
        var settings = HTTP2Settings()
        guard let code = row.code else {
            return try settings.apply([setting], from: row.sender, isFirst: true)
        }
        #expect(throws: HTTP2Error.invalidSetting(setting)) {
            try settings.apply([setting], from: row.sender, isFirst: true)
        }
        #expect(HTTP2Error.invalidSetting(setting).code == code)
    }

    @Test("[H-6.8] values are applied in their order") func order() throws {
        var settings = HTTP2Settings()
        try settings.apply(
            [Setting(.initialWindowSize, 1), Setting(.maxFrameSize, 20_000), Setting(.initialWindowSize, 2)],
            from: .server, isFirst: false)
        #expect(settings.initialWindowSize == 2 && settings.maxFrameSize == 20_000)
    }

    @Test("[H-6.8] extended CONNECT cannot be disabled again") func connectStays() throws {
        var settings = HTTP2Settings()
        let on = Setting(.enableConnectProtocol, 1)
        let off = Setting(.enableConnectProtocol, 0)
        // Not even in one frame.
        var other = HTTP2Settings()
        #expect(throws: HTTP2Error.invalidSetting(off)) {
            try other.apply([on, off], from: .server, isFirst: true)
        }
        try settings.apply([off], from: .server, isFirst: true)
        try settings.apply([on], from: .server, isFirst: false)
        try settings.apply([on], from: .server, isFirst: false)
        #expect(throws: HTTP2Error.invalidSetting(off)) {
            try settings.apply([off], from: .server, isFirst: false)
        }
    }

    @Test("[H-9.3] only the first SETTINGS frame can disable priorities") func prioritiesStay() throws {
        var settings = HTTP2Settings()
        let on = Setting(.noRFC7540Priorities, 1)
        try settings.apply([Setting(.noRFC7540Priorities, 0)], from: .client, isFirst: false)
        #expect(throws: HTTP2Error.invalidSetting(on)) {
            try settings.apply([on], from: .client, isFirst: false)
        }
        try settings.apply([on], from: .client, isFirst: true)
        try settings.apply([on], from: .client, isFirst: false)
        #expect(settings.noRFC7540Priorities)
    }

    @Test func changedSettingsAreReadBack() throws {
        #expect(HTTP2Settings().changesFromInitial.isEmpty)
        var settings = HTTP2Settings()
        settings.headerTableSize = 0
        settings.enablePush = false
        settings.maxConcurrentStreams = 100
        settings.initialWindowSize = 1 << 20
        settings.maxFrameSize = 1 << 15
        settings.maxHeaderListSize = 1 << 18
        settings.enableConnectProtocol = true
        settings.noRFC7540Priorities = true
        #expect(settings.changesFromInitial.count == 8)
        var received = HTTP2Settings()
        try received.apply(settings.changesFromInitial, from: .client, isFirst: true)
        #expect(received == settings)
    }
}
