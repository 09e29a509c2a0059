// SPDX-License-Identifier: MIT

import LupineHTTP2

/// Rows of `FrameReaderTests` for the start of a connection, control frames, sizes and limits.
enum FrameReaderControlRows {
    typealias Row = FrameReaderTests.Row

    static let all = openings + settings + control + extensions + sizes + limits

    private static func frame(
        _ type: UInt8, _ flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] { WireFrames.frame(type, flags, on: stream, payload, length: length) }
    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static let openings: [Row] = [
        Row("a server's first frame", isWhole: true, WireFrames.settings, "SETTINGS "),
        Row(
            "a client's first octets and frame", to: .server, isWhole: true,
            FrameReader.clientPreface + WireFrames.settings, "SETTINGS "),
        Row(
            "[H-3.1] HTTP/1.1 to a server", to: .server, isWhole: true, text("GET / HTTP/1.1\r\n"),
            error: .invalidPreface(octet: 0x47, offset: 0)),
        Row(
            "[H-3.1] a preface with one wrong octet", to: .server, isWhole: true,
            text("PRI * HTTP/2.0\r\n\r\nSM\r\n\n"), error: .invalidPreface(octet: 0x0A, offset: 22)),
        Row(
            "[H-3.2] another frame before SETTINGS", isWhole: true, frame(6, 0, zeros(8)),
            error: .settingsExpected(.ping)),
        Row(
            "[H-3.2] another frame after the preface", to: .server, isWhole: true,
            FrameReader.clientPreface + frame(1, 4, on: 1), error: .settingsExpected(.headers)),
        Row(
            "an acknowledgement before SETTINGS", isWhole: true, frame(4, 1),
            error: .settingsExpected(.settings)),
        // The fourth octet is read as the frame type.
        Row(
            "HTTP/1.1 to a client", isWhole: true, text("HTTP/1.1 400 Bad Request\r\n"),
            error: .settingsExpected(FrameType(rawValue: 0x50))),
    ]

    private static let settings: [Row] = [
        Row(
            "settings, known and unknown",
            frame(4, 0, [0, 1, 0, 0, 0x10, 0, 0, 0x99, 0xFF, 0xFF, 0xFF, 0xFF]),
            "SETTINGS SETTINGS_HEADER_TABLE_SIZE=4096 setting 153=4294967295"),
        Row("an acknowledgement", frame(4, 1), "SETTINGS acknowledged"),
        Row(
            "[H-6.5] an acknowledgement with a payload", frame(4, 1, zeros(6)),
            error: .wrongLength(.settings, length: 6)),
        Row(
            "[H-4.6] settings on a stream", frame(4, on: 1),
            error: .connectionNeeded(.settings, StreamID(1))),
        Row(
            "[H-6.5] five octets of settings", frame(4, 0, zeros(5)),
            error: .wrongLength(.settings, length: 5)),
        Row(
            "[H-6.5] seven octets of settings", frame(4, 0, zeros(7)),
            error: .wrongLength(.settings, length: 7)),
    ]

    private static let control: [Row] = [
        Row("PRIORITY", frame(2, on: 5, zeros(5)), "PRIORITY 5"),
        Row(
            "[H-6.3] PRIORITY of a wrong length is a stream error",
            frame(2, on: 5, zeros(4)) + frame(2, on: 5, zeros(6)) + frame(2, on: 5, zeros(5)),
            "stream 5: FRAME_SIZE_ERROR: PRIORITY cannot have 4 octets",
            "stream 5: FRAME_SIZE_ERROR: PRIORITY cannot have 6 octets", "PRIORITY 5"),
        Row("[H-4.6] PRIORITY on stream 0", frame(2, 0, zeros(5)), error: .streamNeeded(.priority)),
        Row("RST_STREAM", frame(3, on: 1, [0, 0, 0, 8]), "RST_STREAM 1 CANCEL"),
        Row("[H-7.1] an unknown code", frame(3, on: 1, [0, 0, 1, 0]), "RST_STREAM 1 error code 256"),
        Row(
            "[H-4.6] RST_STREAM on stream 0", frame(3, 0, zeros(4)), error: .streamNeeded(.rstStream)),
        Row(
            "[H-6.4] RST_STREAM of three octets", frame(3, on: 1, zeros(3)),
            error: .wrongLength(.rstStream, length: 3)),
        Row(
            "[H-6.4] RST_STREAM of five octets", frame(3, on: 1, zeros(5)),
            error: .wrongLength(.rstStream, length: 5)),
        Row("PING", frame(6, 0, [1, 0, 0, 0, 0, 0, 0, 2]), "PING 72057594037927938"),
        Row("a PING acknowledgement", frame(6, 1, zeros(7) + [9]), "PING 9 acknowledged"),
        Row(
            "[H-4.6] PING on a stream", frame(6, on: 1, zeros(8)),
            error: .connectionNeeded(.ping, StreamID(1))),
        Row(
            "[H-6.11] PING of seven octets", frame(6, 0, zeros(7)),
            error: .wrongLength(.ping, length: 7)),
        Row(
            "[H-6.11] a PING acknowledgement of nine octets", frame(6, 1, zeros(9)),
            error: .wrongLength(.ping, length: 9)),
        Row("GOAWAY", frame(7, 0, [0x80, 0, 0, 7, 0, 0, 0, 0]), "GOAWAY 7 NO_ERROR ''"),
        Row(
            "GOAWAY with debug data", frame(7, 0, [0, 0, 0, 7, 0, 0, 0, 11] + text("calm")),
            "GOAWAY 7 ENHANCE_YOUR_CALM 'calm'"),
        Row(
            "[H-4.6] GOAWAY on a stream", frame(7, on: 1, zeros(8)),
            error: .connectionNeeded(.goAway, StreamID(1))),
        Row(
            "[H-4.5] GOAWAY of seven octets", frame(7, 0, zeros(7)),
            error: .wrongLength(.goAway, length: 7)),
        Row(
            "WINDOW_UPDATE of a stream and of the connection",
            frame(8, on: 1, [0, 0, 0, 1]) + frame(8, 0, [0xFF, 0xFF, 0xFF, 0xFF]),
            "WINDOW_UPDATE 1 +1", "WINDOW_UPDATE 0 +2147483647"),
        Row(
            "[H-6.15] a zero increment for a stream is a stream error",
            frame(8, on: 1, [0x80, 0, 0, 0]) + frame(8, on: 3, [0, 0, 0, 1]),
            "stream 1: PROTOCOL_ERROR: WINDOW_UPDATE on stream 1 adds nothing", "WINDOW_UPDATE 3 +1"),
        Row(
            "[H-6.15] a zero increment for the connection", frame(8, 0, zeros(4)),
            error: .zeroIncrement(.connection)),
        Row(
            "[H-6.15] WINDOW_UPDATE of three octets", frame(8, on: 1, zeros(3)),
            error: .wrongLength(.windowUpdate, length: 3)),
        Row(
            "[H-6.15] WINDOW_UPDATE of five octets", frame(8, 0, zeros(5)),
            error: .wrongLength(.windowUpdate, length: 5)),
    ]

    private static let extensions: [Row] = [
        Row(
            "PRIORITY_UPDATE", to: .server, frame(0x10, 0, [0, 0, 0, 5] + text("u=1, i")),
            "PRIORITY_UPDATE 5 'u=1, i'"),
        Row(
            "PRIORITY_UPDATE without a value", to: .server, frame(0x10, 0, [0x80, 0, 0, 5]),
            "PRIORITY_UPDATE 5 ''"),
        Row(
            "[H-9.2] PRIORITY_UPDATE to a client", frame(0x10, 0, [0, 0, 0, 5]),
            error: .priorityUpdateFromServer),
        Row(
            "[H-4.6] PRIORITY_UPDATE on a stream", to: .server, frame(0x10, on: 5, [0, 0, 0, 5]),
            error: .connectionNeeded(.priorityUpdate, StreamID(5))),
        Row(
            "[H-9.2] PRIORITY_UPDATE of stream 0", to: .server, frame(0x10, 0, zeros(4)),
            error: .priorityUpdateOfConnection),
        Row(
            "[H-4.5] PRIORITY_UPDATE of three octets", to: .server, frame(0x10, 0, zeros(3)),
            error: .wrongLength(.priorityUpdate, length: 3)),
        Row(
            "[H-4.1] unknown frames on any stream are ignored",
            frame(0xEE, 0xFF, on: 9, text("abc")) + frame(0x0A) + frame(0xFF, 0, zeros(300)) + frame(4, 1),
            "ignored a frame of type 238 on 9", "ignored a frame of type 10 on 0",
            "ignored a frame of type 255 on 0", "SETTINGS acknowledged"),
    ]

    private static let sizes: [Row] =
        ([0, 1, 2, 3, 4, 5, 6, 7, 8, 0xEE] as [UInt8]).map { type in
            Row(
                "[H-4.2] a frame of type \(type) over the largest size",
                frame(type, 4, on: 1, length: 16_385),
                error: .frameTooLarge(FrameType(rawValue: type), length: 16_385, allowed: 16_384))
        } + [
            Row(
                "[H-4.2] CONTINUATION over the largest size",
                frame(1, on: 1) + frame(9, 4, on: 1, length: 0xFF_FFFF),
                error: .frameTooLarge(.continuation, length: 16_777_215, allowed: 16_384)),
            Row(
                "[H-4.2] DATA of the largest size", frame(0, 1, on: 1, length: 16_384),
                "DATA 1 of 16384"),
            Row("HEADERS of the largest size", frame(1, 4, on: 1, zeros(16_384)), "HEADERS 1 of 16384"),
        ]

    private static func limits(_ change: (inout FrameLimits) -> Void) -> FrameLimits {
        var limits = FrameLimits()
        change(&limits)
        return limits
    }

    private static let limits: [Row] = {
        let blockOctets = limits { $0.headerBlockOctets = 5 }
        let frames = limits { $0.continuationFrames = 2 }
        let emptyFrames = limits { $0.emptyContinuationFrames = 1 }
        let settingsCount = limits { $0.settingsCount = 2 }
        let shortText = limits { ($0.debugOctets, $0.priorityOctets) = (3, 3) }
        let unlimitedText = limits { ($0.debugOctets, $0.priorityOctets) = (.max, .max) }
        let noText = limits { $0.debugOctets = -1 }
        let continuation = frame(9, on: 1, text("a"))
        return [
            Row(
                "a block of as many octets as the limit allows", limits: blockOctets,
                frame(1, on: 1, text("abc")) + frame(9, 4, on: 1, text("de")), "HEADERS 1 'abcde'"),
            Row(
                "a block of one octet too many", limits: blockOctets,
                frame(1, on: 1, text("abc")) + frame(9, 4, on: 1, text("def")),
                error: .limitExceeded(.headerBlockOctets, allowed: 5)),
            Row(
                "one frame of one octet too many", limits: blockOctets, frame(1, 4, on: 1, text("abcdef")),
                error: .limitExceeded(.headerBlockOctets, allowed: 5)),
            Row(
                "padding does not count for a block", limits: blockOctets,
                frame(1, 0x0C, on: 1, [9] + text("abcde") + zeros(9)), "HEADERS 1 'abcde'"),
            Row(
                "as many CONTINUATION frames as the limit allows", limits: frames,
                frame(1, on: 1) + continuation + frame(9, 4, on: 1), "HEADERS 1 'a'"),
            Row(
                "one CONTINUATION frame too many", limits: frames,
                frame(1, on: 1) + continuation + continuation + continuation,
                error: .limitExceeded(.continuationFrames, allowed: 2)),
            Row(
                "as many empty CONTINUATION frames as the limit allows", limits: emptyFrames,
                frame(1, on: 1) + frame(9, on: 1) + frame(9, 4, on: 1, text("a")), "HEADERS 1 'a'"),
            Row(
                "one empty CONTINUATION frame too many", limits: emptyFrames,
                frame(1, on: 1) + frame(9, on: 1) + continuation + frame(9, 4, on: 1),
                error: .limitExceeded(.emptyContinuationFrames, allowed: 1)),
            Row(
                "the limit applies to each block", limits: emptyFrames,
                frame(1, on: 1) + frame(9, 4, on: 1) + frame(1, on: 3) + frame(9, 4, on: 3),
                "HEADERS 1 ''", "HEADERS 3 ''"),
            Row(
                "a flood of empty CONTINUATION frames",
                frame(1, on: 1) + (0..<100).flatMap { _ in frame(9, on: 1) },
                error: .limitExceeded(.emptyContinuationFrames, allowed: 4)),
            Row(
                "as many settings as the limit allows", limits: settingsCount, frame(4, 0, zeros(12)),
                "SETTINGS setting 0=0 setting 0=0"),
            Row(
                "one setting too many", limits: settingsCount, frame(4, 0, zeros(18)),
                error: .limitExceeded(.settingsCount, allowed: 2)),
            Row(
                "debug data over the limit", limits: shortText,
                frame(7, 0, zeros(8) + text("abcdef")) + frame(4, 1), "GOAWAY 0 NO_ERROR 'abc'",
                "SETTINGS acknowledged"),
            Row(
                "debug data without a limit", limits: unlimitedText, frame(7, 0, zeros(8) + text("abc")),
                "GOAWAY 0 NO_ERROR 'abc'"),
            Row(
                "debug data with a negative limit", limits: noText, frame(7, 0, zeros(8) + text("abc")),
                "GOAWAY 0 NO_ERROR ''"),
            Row(
                "a priority as long as the limit", to: .server, limits: shortText,
                frame(0x10, 0, [0, 0, 0, 1] + text("u=1")), "PRIORITY_UPDATE 1 'u=1'"),
            Row(
                "a priority that is too long is ignored", to: .server, limits: shortText,
                frame(0x10, 0, [0, 0, 0, 1] + text("u=1 ")) + frame(4, 1),
                "ignored PRIORITY_UPDATE on 0", "SETTINGS acknowledged"),
            Row(
                "a priority without a limit", to: .server, limits: unlimitedText,
                frame(0x10, 0, [0, 0, 0, 1] + text("u=1")), "PRIORITY_UPDATE 1 'u=1'"),
        ]
    }()
}
