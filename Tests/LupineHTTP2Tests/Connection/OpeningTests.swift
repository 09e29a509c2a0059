// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Tests of the opening of connections, and of the effects of SETTINGS (RFC 9113 §3.4, §6.5 and §6.7).
@Suite struct OpeningTests {
    typealias Wire = WireFrames

    static func session(_ role: HTTP2Role) -> MachineSession {
        var session = MachineSession(role)
        _ = session.sent()
        return session
    }

    static let openings: [MachineRow] = [
        MachineRow(
            "[H-3.1] a server accepts the preface and SETTINGS", session(.server), Wire.opening(to: .server),
            "settings",
            "sent SETTINGS ack"),
        MachineRow(
            "a client accepts SETTINGS", session(.client), Wire.opening(to: .client), "settings",
            "sent SETTINGS ack"),
        MachineRow(
            "[H-3.1] another preface", session(.server), Array("GET / HTTP/1.1\r\n\r\n".utf8),
            error: .frame(.invalidPreface(octet: 0x47, offset: 0))),
        MachineRow(
            "[H-3.2] the server's first frame is not SETTINGS", session(.client), Wire.ping(),
            error: .frame(.settingsExpected(.ping))),
        MachineRow(
            "[H-3.2] the client's first frame is not SETTINGS", session(.server),
            FrameReader.clientPreface + Wire.get(1), error: .frame(.settingsExpected(.headers))),
        MachineRow(
            "[H-3.2] the first frame is an acknowledgement", session(.client), Wire.settingsAck,
            error: .frame(.settingsExpected(.settings))),
        MachineRow(
            "[H-6.9] an acknowledgement", session(.client), Wire.settings + Wire.settingsAck,
            "settings",
            "settings acknowledged", "sent SETTINGS ack"),
        MachineRow(
            "[H-6.9] an unexpected acknowledgement", MachineSession.opened(.client), Wire.settingsAck,
            error: .unexpectedAcknowledgement),
        MachineRow(
            "[H-6.8] an unknown setting is ignored", session(.client), Wire.settings((0x99, 1)), "settings",
            "sent SETTINGS ack"),
        MachineRow(
            "[H-6.8] a window that is too large", session(.client), Wire.settings((4, 0x8000_0000)),
            error: .frame(.invalidSetting(Setting(.initialWindowSize, 0x8000_0000)))),
        MachineRow(
            "[H-6.8] a frame size that is too small", session(.client), Wire.settings((5, 16_383)),
            error: .frame(.invalidSetting(Setting(.maxFrameSize, 16_383)))),
        MachineRow(
            "[H-6.8] a server that enables push", session(.client), Wire.settings((2, 1)),
            error: .frame(.invalidSetting(Setting(.enablePush, 1)))),
        MachineRow(
            "[H-6.11] PING is answered with its octets", MachineSession.opened(.server), Wire.ping(7),
            "sent PING 7 ack"),
        MachineRow(
            "[H-6.11] an acknowledgement without a PING is ignored", MachineSession.opened(.server),
            Wire.ping(7, ack: true)),
        MachineRow(
            "[H-4.1] frames of unknown types are ignored", MachineSession.opened(.server),
            Wire.frame(0xBA, 0xFF, on: 9, [1, 2, 3]) + Wire.ping(7), "sent PING 7 ack"),
        MachineRow(
            "[H-4.2] a frame over SETTINGS_MAX_FRAME_SIZE", MachineSession.opened(.server),
            Wire.frame(0xBA, 0, [], length: 16_385),
            error: .frame(
                .frameTooLarge(FrameType(rawValue: 0xBA), length: 16_385, allowed: 16_384))),
    ]

    @Test(arguments: openings) func openingFrames(_ row: MachineRow) { row.check() }

    @Test("[H-3.3] each end opens with its preface and SETTINGS") func prefaces() {
        var client = MachineSession(.client, window: 1 << 20)
        #expect(Array(client.takeOutput().prefix(24)) == FrameReader.clientPreface)
        client = MachineSession(.client, window: 1 << 20)
        #expect(
            client.sent() == [
                "sent SETTINGS SETTINGS_ENABLE_PUSH=0 SETTINGS_MAX_CONCURRENT_STREAMS=100 "
                    + "SETTINGS_MAX_HEADER_LIST_SIZE=262144",
                "sent WINDOW_UPDATE 0 +983041",
            ])
        var server = MachineSession(.server)
        #expect(
            server.sent() == [
                "sent SETTINGS SETTINGS_MAX_CONCURRENT_STREAMS=100 SETTINGS_MAX_HEADER_LIST_SIZE=262144"
            ])
    }

    @Test func peerSettingsAndFrameBoundaries() {
        var session = Self.session(.client)
        session.receive(Wire.settings((3, 7), (4, 9)) + Wire.ping().prefix(10))
        #expect(session.machine.peerSettings.maxConcurrentStreams == 7)
        #expect(session.machine.peerSettings.initialWindowSize == 9)
        #expect(!session.machine.isBetweenFrames)
        session.receive(Array(Wire.ping().dropFirst(10)))
        #expect(session.machine.isBetweenFrames)
    }

    @Test("[H-6.11] a PING of this end") func ownPing() {
        var session = MachineSession.opened(.client)
        session.machine.sendPing(0x0102_0304_0506_0708)
        #expect(session.sent() == ["sent PING 72623859790382856"])
        session.receive(Wire.frame(6, 1, [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(session.takeLines() == ["pong 72623859790382856"])
    }

    // MARK: settings of this end

    @Test("[H-6.9] a higher limit applies at once, a lower one after its acknowledgement")
    func frameSizes() {
        var session = MachineSession.opened(.server)
        var settings = session.machine.settings
        let long = { (count: Int) in Wire.frame(0xBA, 0, [UInt8](repeating: 0, count: count)) }
        settings.maxFrameSize = 20_000
        session.machine.change(settings, at: .seconds(1))
        #expect(session.machine.settingsPendingSince == .seconds(1))
        #expect(session.sent() == ["sent SETTINGS SETTINGS_MAX_FRAME_SIZE=20000"])
        session.receive(long(20_000) + Wire.settingsAck)
        settings.maxFrameSize = 16_384
        session.machine.change(settings, at: .seconds(2))
        #expect(session.sent() == ["sent SETTINGS SETTINGS_MAX_FRAME_SIZE=16384"])
        session.receive(long(20_000))
        #expect(session.takeLines() == ["settings acknowledged"])
        session.receive(Wire.settingsAck)
        #expect(session.machine.settingsPendingSince == nil)
        session.receive(long(20_000))
        #expect(
            session.machine.error
                == .frame(
                    .frameTooLarge(FrameType(rawValue: 0xBA), length: 20_000, allowed: 16_384)))
    }

    @Test("[H-6.10] settings that are not acknowledged") func settingsTimeout() {
        var session = MachineSession.opened(.client)
        session.machine.fail(.settingsTimeout)
        session.machine.fail(.unexpectedAcknowledgement)
        session.receive(Wire.ping())
        #expect(session.takeLines() == ["SETTINGS_TIMEOUT: the peer did not acknowledge SETTINGS in time"])
        #expect(session.sent() == ["sent GOAWAY 0 SETTINGS_TIMEOUT"])
    }

    @Test("[H-14.2] the owner reports that the peer requests a TLS renegotiation") func renegotiation() {
        var session = MachineSession.opened(.client, gets: 1)
        session.machine.fail(.renegotiation)
        session.receive(Wire.response(1))
        #expect(session.takeLines() == ["PROTOCOL_ERROR: the peer asked to renegotiate TLS"])
        #expect(session.sent() == ["sent GOAWAY 0 PROTOCOL_ERROR"])
    }

    @Test(
        "[H-6.9] this end acknowledges SETTINGS after its own preface",
        arguments: [HTTP2Role.client, .server])
    func acknowledgementAfterThePreface(_ role: HTTP2Role) {
        var session = MachineSession(role, window: 1 << 20)
        session.receive(Wire.opening(to: role))
        let sent = session.sent()
        #expect(sent.first?.hasPrefix("sent SETTINGS SETTINGS_") == true)
        #expect(sent.dropFirst() == ["sent WINDOW_UPDATE 0 +983041", "sent SETTINGS ack"])
    }

    /// A smaller table of the peer is announced in this end's next block; a smaller table of this end must be announced in the
    /// peer's next one.
    @Test("[H-10.3] the sizes of dynamic tables") func tableSizes() throws {
        var session = MachineSession.opened(.client, gets: 1)
        session.receive(Wire.settings((1, 100), (1, 4_096)))
        let list = session.list(Wire.requestFields)
        _ = try session.machine.open(list, method: .get, endsStream: true)
        var octets = session.takeOutput()
        octets.removeFirst(9 + 9)
        // 100 takes two octets, 4,096 three.
        #expect(octets.prefix(5) == [0x3F, 0x45, 0x3F, 0xE1, 0x1F])

        var settings = session.machine.settings
        settings.headerTableSize = 0
        session.machine.change(settings, at: .zero)
        _ = session.takeLines()
        session.receive(Wire.settingsAck + Wire.frame(1, 4, on: 1, [0x20, 0x88]))
        #expect(session.takeLines() == ["settings acknowledged", "response 1 200"])
        settings.headerTableSize = 200
        session.machine.change(settings, at: .zero)
        settings.headerTableSize = 0
        session.machine.change(settings, at: .zero)
        session.receive(Wire.frame(1, 4, on: 3, [0x3F, 0x45, 0x88]) + Wire.times(2, Wire.settingsAck))
        session.receive(Wire.frame(1, 5, on: 3, [0x88]))
        #expect(session.machine.error == .compression(.missingSizeUpdate(allowed: 0)))
    }

    @Test("[H-10.3] the peer must announce the smallest of several sizes") func smallestTableSize() {
        for (block, isAnnounced) in [([0x20, 0x3F, 0xE1, 0x1F, 0x88], true), ([0x88], false)]
            as [([UInt8], Bool)]
        {
            var session = MachineSession.opened(.client, gets: 1)
            var settings = session.machine.settings
            for size in [0, 4_096] {
                settings.headerTableSize = size
                session.machine.change(settings, at: .zero)
            }
            session.receive(Wire.times(2, Wire.settingsAck) + Wire.frame(1, 5, on: 1, block))
            #expect(
                session.machine.error == (isAnnounced ? nil : .compression(.missingSizeUpdate(allowed: 0))))
        }
    }

    @Test func aFailureIsPermanent() {
        var session = MachineSession.opened(.client, gets: 1)
        session.receive(Wire.settingsAck)
        #expect(session.sent() == ["sent GOAWAY 0 PROTOCOL_ERROR"])
        session.receive(Wire.response(1))
        #expect(
            session.takeLines()
                == [String](
                    repeating: "PROTOCOL_ERROR: an acknowledgement of SETTINGS came, and none was due",
                    count: 2))
        session.machine.sendPing(1)
        session.machine.reset(StreamID(1), .cancel)
        session.machine.raiseWindow(to: 1 << 20)
        session.machine.shutDown()
        session.machine.announceShutdown()
        session.machine.change(HTTP2Settings(), at: .zero)
        #expect(session.sent() == [])
        #expect(throws: HTTP2SendError.connectionOver) { try session.send([1], on: 1) }
        #expect(throws: HTTP2SendError.connectionOver) {
            try session.machine.open(HeaderList(), method: .get, endsStream: true)
        }
    }
}
