// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import Testing

/// Sends the known HTTP/2 floods to a client and to a server. The connection must fail exactly at the limit, with an error that
/// names the limit, and use bounded memory until then.
@Suite struct FloodTests {
    typealias Wire = WireFrames

    /// The frames of a flood, and the error that it must lead to.
    struct Flood: CustomTestStringConvertible, Sendable {
        let title: String
        let role: HTTP2Role
        /// Makes the frames of one repetition, from its number.
        let piece: @Sendable (UInt32) -> [UInt8]
        /// The number of repetitions that are allowed.
        let allowed: Int
        let error: HTTP2ConnectionError
        /// Whether the client opens a stream (3, 5, 7 and so on) before each repetition.
        var opens = false
        var testDescription: String { "\(title), to a \(role)" }
    }

    /// Returns a session that has stream 1 open for the flood; neither end has ended it.
    static func session(_ role: HTTP2Role, limits: HTTP2Limits = HTTP2Limits()) -> MachineSession {
        var session = MachineSession.opened(
            role, window: 1 << 24, limits: limits, posts: role == .client ? 1 : 0)
        session.receive(role == .client ? Wire.response(1) : Wire.post(1))
        session.machine.raiseWindow(of: StreamID(1), to: 1 << 24)
        _ = (session.takeLines(), session.sent())
        return session
    }

    private static func limit(_ limit: HTTP2Limits.Limit, _ allowed: Int) -> HTTP2ConnectionError {
        .limitExceeded(limit, allowed: allowed)
    }

    private static func both(
        _ title: String, _ piece: @escaping @Sendable (UInt32) -> [UInt8], allowed: Int,
        _ error: HTTP2ConnectionError
    ) -> [Flood] {
        HTTP2Role.allCases.map {
            Flood(title: title, role: $0, piece: piece, allowed: allowed, error: error)
        }
    }

    private static func only(
        _ title: String, to role: HTTP2Role, _ piece: @escaping @Sendable (UInt32) -> [UInt8], allowed: Int,
        _ error: HTTP2ConnectionError
    ) -> [Flood] {
        [Flood(title: title, role: role, piece: piece, allowed: allowed, error: error)]
    }

    /// Returns a flood that a server sends on streams that the client opens for it.
    private static func fromServer(
        _ title: String, _ piece: @escaping @Sendable (UInt32) -> [UInt8], _ kind: HTTP2Limits.Limit
    ) -> [Flood] {
        [
            Flood(
                title: title, role: .client, piece: { piece(3 + 2 * $0) }, allowed: 1_000,
                error: limit(kind, 1_000), opens: true)
        ]
    }

    /// The floods. The test sends them without a pause, and takes the machine's output after each repetition.
    static let floods: [Flood] = [
        both(
            "[H-11.1] CVE-2019-9511, data dribble: windows opened octet by octet", { _ in Wire.window(1, 1) },
            allowed: 10_000, limit(.windowUpdates, 10_000)),
        both("[H-11.2] CVE-2019-9512, ping flood", { _ in Wire.ping() }, allowed: 200, limit(.pings, 200)),
        both(
            "[H-11.3] CVE-2019-9513, resource loop: priorities shuffled",
            { Wire.frame(2, on: $0 | 1, [0, 0, 0, 1, 9]) }, allowed: 1_000, limit(.priorities, 1_000)),
        only(
            "[H-11.3] CVE-2019-9513 with PRIORITY_UPDATE", to: .server,
            { Wire.priorityUpdate(1, "u=\($0 % 8)") }, allowed: 1_000, limit(.priorities, 1_000)),
        only(
            "[H-11.4] CVE-2019-9514, reset flood: malformed requests", to: .server,
            { Wire.headers(3 + 2 * $0, [(":method", "GET")], end: true) }, allowed: 1_000,
            limit(.provokedResets, 1_000)),
        both(
            "[H-11.5] CVE-2019-9515, settings flood", { _ in Wire.settings }, allowed: 99,
            limit(.settings, 100)),
        both(
            "[H-11.8] CVE-2019-9518, empty frames: DATA", { _ in Wire.data(1) }, allowed: 100,
            limit(.emptyData, 100)),
        both(
            "[H-11.8] CVE-2019-9518, only padding", { _ in Wire.frame(0, 8, on: 1, [3, 0, 0, 0]) },
            allowed: 100, limit(.emptyData, 100)),
        both(
            "[H-11.15] more padding than content",
            { _ in Wire.frame(0, 8, on: 1, [255, 0x61] + [UInt8](repeating: 0, count: 255)) }, allowed: 1_028,
            limit(.paddingOctets, 262_144)),
        only(
            "[H-11.9] CVE-2023-44487, rapid reset", to: .server,
            { Wire.get(3 + 2 * $0) + Wire.reset(3 + 2 * $0) },
            allowed: 1_000, limit(.resets, 1_000)),
        only(
            "[H-11.9] CVE-2023-44487, rapid reset with NO_ERROR", to: .server,
            { Wire.get(3 + 2 * $0) + Wire.reset(3 + 2 * $0, 0) }, allowed: 1_000, limit(.resets, 1_000)),
        both(
            "[H-11.9] RST_STREAM on closed streams", { _ in Wire.reset(1) },
            allowed: 1_000, limit(.resets, 1_000)),
        only(
            "[H-11.10] CVE-2025-8671, resets provoked by WINDOW_UPDATE", to: .server,
            { Wire.get(3 + 2 * $0) + Wire.window(3 + 2 * $0, 0) }, allowed: 1_000,
            limit(.provokedResets, 1_000)),
        only(
            "[H-11.10] CVE-2025-8671, resets provoked by a window's overflow", to: .server,
            { Wire.get(3 + 2 * $0) + Wire.window(3 + 2 * $0, 0x7FFF_FFFF) }, allowed: 1_000,
            limit(.provokedResets, 1_000)),
        only(
            "[H-11.10] CVE-2025-8671, resets provoked by DATA after the end", to: .server,
            { Wire.get(3 + 2 * $0) + Wire.data(3 + 2 * $0, "x") }, allowed: 1_000,
            limit(.provokedResets, 1_000)),
        only(
            "[H-11.10] CVE-2025-8671, resets provoked by PRIORITY of a wrong length", to: .server,
            { Wire.get(3 + 2 * $0) + Wire.frame(2, on: 3 + 2 * $0, [0]) }, allowed: 1_000,
            limit(.provokedResets, 1_000)),
        both(
            "[H-11.11] CVE-2024-27316, CONTINUATION without an end",
            { $0 == 0 ? Wire.frame(1, on: 3, [0x88]) : Wire.frame(9, on: 3, [0x88]) }, allowed: 65,
            .frame(.limitExceeded(.continuationFrames, allowed: 64))),
        both(
            "[H-11.8] CVE-2019-9518, empty CONTINUATION",
            { $0 == 0 ? Wire.frame(1, on: 3) : Wire.frame(9, on: 3) },
            allowed: 5, .frame(.limitExceeded(.emptyContinuationFrames, allowed: 4))),
        both(
            "[H-11.11] a header block without an end",
            { Wire.frame($0 == 0 ? 1 : 9, on: 3, [UInt8](repeating: 0x88, count: 16_384)) }, allowed: 16,
            .frame(.limitExceeded(.headerBlockOctets, allowed: 262_144))),
        both(
            "[H-11.14] frames of unknown types", { _ in Wire.frame(0xBA, on: 1, [1]) }, allowed: 1_000,
            limit(.ignoredFrames, 1_000)),
        both(
            "[H-11.14] repeated GOAWAY", { _ in Wire.goAway(1) }, allowed: 1_000,
            limit(.ignoredFrames, 1_000)),
        both(
            "[H-11.14] PING acknowledgements without a PING", { _ in Wire.ping(ack: true) }, allowed: 1_000,
            limit(.ignoredFrames, 1_000)),
        fromServer(
            "[H-11.4] CVE-2019-9514, reset flood: malformed responses",
            { Wire.headers($0, [("a", "b")]) }, .provokedResets),
        fromServer("[H-11.9] CVE-2023-44487, rapid reset", { Wire.reset($0) }, .resets),
        fromServer("[H-11.9] streams that are refused", { Wire.reset($0, 7) }, .resets),
        fromServer(
            "[H-11.10] CVE-2025-8671, resets provoked by WINDOW_UPDATE", { Wire.window($0, 0) },
            .provokedResets),
        fromServer(
            "[H-11.10] CVE-2025-8671, resets provoked by a window's overflow",
            { Wire.window($0, 0x7FFF_FFFF) },
            .provokedResets),
        fromServer(
            "[H-11.10] CVE-2025-8671, resets provoked by DATA before a head", { Wire.data($0, "x") },
            .provokedResets),
        only(
            "[H-11.16] streams above the limit", to: .server, { Wire.post(3 + 2 * $0) }, allowed: 1_099,
            limit(.provokedResets, 1_000)),
    ].flatMap(\.self)

    @Test(arguments: floods) func theConnectionFailsAtTheLimit(_ flood: Flood) {
        var session = Self.session(flood.role)
        for time in 0..<flood.allowed {
            if flood.opens { session.openPost() }
            session.receive(flood.piece(UInt32(time)))
            guard session.machine.error == nil else {
                Issue.record("\(session.machine.error?.description ?? "") at \(time)")
                return
            }
            _ = session.sent()
        }
        if flood.opens { session.openPost() }
        session.receive(flood.piece(UInt32(flood.allowed)))
        #expect(session.machine.error == flood.error)
        #expect(flood.error.code == .enhanceYourCalm)
        #expect(session.sent().last?.hasSuffix("ENHANCE_YOUR_CALM") == true)
        #expect(session.machine.streamCount <= 100)
    }

    /// Sends each flood at two repetitions a second, and many more repetitions than are allowed at once: time must restore the
    /// allowances.
    @Test(
        "[H-11.13] time restores the allowances",
        arguments: floods.filter { if case .limitExceeded = $0.error { true } else { false } })
    func timeRestoresAllowances(_ flood: Flood) {
        var session = Self.session(flood.role)
        for time in 0..<(2 * flood.allowed + 100) {
            session.now = .milliseconds(time * 500)
            if flood.opens { session.openPost() }
            session.receive(flood.piece(UInt32(time)))
            guard session.machine.error == nil else {
                Issue.record("\(session.machine.error?.description ?? "") at \(time)")
                return
            }
            _ = session.sent()
        }
    }

    // MARK: allowances that other frames restore

    @Test(
        "[H-11.13] frames with content restore the allowances of frames without",
        arguments: HTTP2Role.allCases)
    func contentRestoresAllowances(_ role: HTTP2Role) throws {
        var session = Self.session(role)
        session.consumes = true
        let content = Wire.data(1, count: 64)
        for _ in 0..<3_000 {
            session.receive(content + Wire.ping() + Wire.data(1) + Wire.window(1, 1) + Wire.window(0, 1))
            try #require(session.machine.error == nil)
            _ = session.sent()
        }
        for _ in 0..<199 { session.receive(Wire.data(1, count: 63) + Wire.ping()) }
        #expect(session.machine.error == nil)
        session.receive(Wire.data(1, count: 63) + Wire.ping())
        #expect(session.machine.error == Self.limit(.pings, 200))
    }

    @Test(
        "[H-11.1] small messages restore the allowance of WINDOW_UPDATE, DATA divided into octets does not",
        arguments: [true, false])
    func dribble(_ isCut: Bool) throws {
        var session = MachineSession.opened(.client, posts: 1)
        if isCut { session.receive(Wire.settings((4, 1))) }
        var count = 0
        while session.machine.error == nil, count < 12_000 {
            _ = try session.send(isCut ? [1, 2, 3] : [1], on: 1)
            session.receive(Wire.window(1, 1))
            count += 1
        }
        #expect(session.machine.error == (isCut ? Self.limit(.windowUpdates, 10_000) : nil))
    }

    @Test("[H-11.9] complete exchanges restore the allowance of cancelled ones")
    func exchangesRestoreAllowances() throws {
        var session = MachineSession.opened(.server)
        let answer = session.list([(":status", "200")])
        for round in 0..<5_000 as Range<UInt32> {
            let stream = 1 + 4 * round
            session.receive(Wire.get(stream))
            try session.machine.send(answer, on: StreamID(stream), endsStream: true)
            session.receive(Wire.get(stream + 2) + Wire.reset(stream + 2))
            try #require(session.machine.error == nil)
            _ = session.takeOutput()
        }
        #expect(session.machine.streamCount == 0)
    }

    // MARK: waiting output

    /// Sends frames that require answers, and never takes the output. The waiting output must stay bounded even without the other
    /// limits.
    @Test(
        "[H-11.7] CVE-2019-9517 and answers that the peer does not read: waiting output is bounded",
        arguments: [
            (.client, "ping"), (.client, "settings"), (.client, "window"), (.server, "ping"),
            (.server, "settings"),
            (.server, "reset"), (.server, "window"),
        ] as [(HTTP2Role, String)])
    func waitingOctets(_ role: HTTP2Role, _ kind: String) {
        var limits = HTTP2Limits()
        let unlimited = Allowance(atOnce: .max, perSecond: .max)
        (limits.pings, limits.settings, limits.provokedResets, limits.resets) = (
            unlimited, unlimited, unlimited, unlimited
        )
        limits.emptyData = unlimited
        var session = Self.session(role, limits: limits)
        session.consumes = true
        let sendsData = kind == "window"
        var count: UInt32 = 0
        var highest = 0
        while session.machine.error == nil, count < (sendsData ? 12 : 10_000) {
            switch kind {
            case "ping": session.receive(Wire.ping())
            case "settings": session.receive(Wire.settings)
            case "reset":
                session.receive(Wire.get(3 + 2 * count) + Wire.window(3 + 2 * count, 0))
            case "window": session.receive(Wire.times(100, Wire.data(1, count: 16_384)))
            default:
                Issue.record("unknown kind of frames: \(kind)")
                return
            }
            highest = max(highest, session.machine.waitingCount)
            _ = session.takeLines()
            count += 1
        }
        if sendsData {
            // Each WINDOW_UPDATE has 13 octets and returns credit for 512 KiB of received DATA, for the stream and for the
            // connection.
            let updates = 12 * 100 * 16_384 / (512 * 1_024)
            #expect(session.machine.error == nil)
            #expect(highest <= 2 * updates * 13)
        } else {
            #expect(session.machine.error == Self.limit(.waitingOctets, 65_536))
        }
        #expect(highest <= 65_536 + 100)
    }

    @Test(
        "[H-11.7] CVE-2019-9517: the machine buffers no content that waits for the windows",
        arguments: HTTP2Role.allCases)
    func internalBuffering(_ role: HTTP2Role) throws {
        var session = MachineSession.opened(role)
        session.receive(Wire.settings((4, 0x7FFF_FFFF)) + Wire.window(0, 0x7FFF_0000))
        for index in 0..<100 as Range<UInt32> {
            if role == .server { session.receive(Wire.get(1 + 2 * index)) } else { session.openPost() }
        }
        _ = session.takeOutput()
        if role == .server {
            for stream in session.machine.openStreams {
                try session.machine.send(session.list([(":status", "200")]), on: stream, endsStream: false)
            }
        }
        #expect(session.machine.streamCount == 100)
        #expect(session.machine.waitingCount < 2_000)
        #expect(session.machine.sendRoom(of: StreamID(1)) == 0x7FFF_FFFF)
    }

    // MARK: header lists

    @Test(
        "[H-11.12] CVE-2016-6581, HPACK bomb: one octet for a field of the table",
        arguments: HTTP2Role.allCases)
    func bomb(_ role: HTTP2Role) {
        var session = Self.session(role)
        // A block adds an entry of 4,000 octets to the table, then refers to it 12,000 times, with one octet each.
        let entry = [0x40, 1, 0x61, 0x7F, 0xA1, 0x1E] + [UInt8](repeating: 0x62, count: 4_000)
        let block = entry + [UInt8](repeating: 0xBE, count: 12_000)
        session.receive(Wire.frame(1, 5, on: 1, block).framed(by: 16_384))
        let reason = "octets of a header list (listOctets) exceed the limit of 262144"
        #expect(session.takeLines() == ["failed 1 ENHANCE_YOUR_CALM: \(reason)"])
        #expect(session.sent() == ["sent RST_STREAM 1 ENHANCE_YOUR_CALM"])
        #expect(session.machine.error == nil)
    }

    @Test("[H-11.6] CVE-2019-9516, empty names and values", arguments: HTTP2Role.allCases)
    func emptyNames(_ role: HTTP2Role) {
        for (count, reason) in [
            (1_000, "PROTOCOL_ERROR: \"\" is not a field name"),
            (1_001, "ENHANCE_YOUR_CALM: header fields (fieldCount) exceed the limit of 1000"),
        ] {
            var session = Self.session(role)
            session.receive(Wire.frame(1, 5, on: 1, Wire.times(count, [0x00, 0x80, 0x80])))
            #expect(session.takeLines() == ["failed 1 \(reason)"])
        }
    }

    @Test(
        "[H-10.4] neither table exceeds its limit, whatever the peer allows", arguments: HTTP2Role.allCases)
    func tables(_ role: HTTP2Role) throws {
        var session = Self.session(role)
        session.receive(Wire.settings((1, 0x7FFF_FFFF)))
        for number in 0..<200 {
            let name = "x-\(number)-" + String(repeating: "y", count: 100)
            let list = session.list([(role == .client ? ":method" : ":status", "204"), (name, "z")])
            if role == .client {
                if number < 90 { _ = try session.machine.open(list, method: .get, endsStream: true) }
            } else {
                try session.machine.send(list, on: StreamID(1), endsStream: false)
            }
        }
        #expect(session.machine.headerTableSizes.encoder <= 4_096)
        // Nor may the peer's encoder use a larger table.
        session.receive(Wire.frame(1, 5, on: 1, [0x3F, 0xE2, 0x1F]))
        #expect(session.machine.error == .compression(.sizeUpdateTooLarge(4_097, allowed: 4_096)))
    }

    @Test("[H-11.17] interim responses without an end") func interims() {
        var session = MachineSession.opened(.client, gets: 1)
        session.receive(Wire.times(33, Wire.response(1, 103)))
        #expect(
            session.takeLines().last
                == "failed 1 ENHANCE_YOUR_CALM: there were more than 32 interim responses")
    }

    @Test("[H-11.18] every error names its limit") func names() {
        let names = [
            "pings", "settings", "emptyData", "paddingOctets", "resets", "provokedResets", "priorities",
            "windowUpdates", "ignoredFrames", "lateFrames", "waitingOctets",
        ]
        #expect(HTTP2Limits.Limit.allCases.count == names.count)
        for (limit, name) in zip(HTTP2Limits.Limit.allCases, names) {
            let error = HTTP2ConnectionError.limitExceeded(limit, allowed: 7)
            #expect(error.description.hasSuffix("(\(name)) exceed the limit of 7"))
            #expect(error.code == .enhanceYourCalm)
        }
    }
}
