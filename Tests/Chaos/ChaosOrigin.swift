// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineOrigin
internal import LupineTLS
internal import LupineTestKit
internal import LupineTransport

/// The origin that misbehaves as it is told: one origin for each door, without TLS and with it, on loops that they share.
///
/// What a connection does before a request is its door's; the rest stands in each request. Any thread.
package final class ChaosOrigin: Sendable {
    /// Where the doors are.
    package let doors: ChaosDoors
    private let origins: [LupineOrigin.Origin]
    private let group: EventLoopGroup
    private let dead: [DeadEnd]

    /// Starts all of them.
    package init(loops: Int = 2) throws {
        let group = try EventLoopGroup(count: loops, name: "lupine-chaos")
        var doors = ChaosDoors()
        var origins: [LupineOrigin.Origin] = []
        var dead: [DeadEnd] = []
        for isSecure in [false, true] {
            for door in ChaosDoor.allCases where isSecure || door.isPlainToo {
                switch door {
                case .refused, .unanswered:
                    let end = try DeadEnd(isListening: door == .unanswered)
                    doors[door, secure: isSecure] = end.port
                    dead.append(end)
                default:
                    let origin = try Self.origin(door, isSecure, group)
                    doors[door, secure: isSecure] = origin.port
                    origins.append(origin)
                }
            }
        }
        self.doors = doors
        self.origins = origins
        self.group = group
        self.dead = dead
    }

    /// Ends all of them.
    package func shutdown() async {
        for origin in origins { await origin.shutdown() }
        await group.shutdown()
    }

    private static func origin(_ door: ChaosDoor, _ isSecure: Bool, _ group: EventLoopGroup) throws
        -> LupineOrigin.Origin
    {
        var configuration = OriginConfiguration()
        configuration.script = script(of: door)
        if isSecure {
            configuration.tls = try tls(certificate(of: door))
            if door == .old { configuration.tls?.maximumVersion = .v1_2 }
            if door == .turning {
                configuration.furtherTLS = [try tls("renewed-other-key"), try tls("expired")]
            }
        }
        let origin = try LupineOrigin.Origin.start(loops: group, configuration: configuration)
        origin.route(nil, "/served", .streamed { request throws(Refusal) in try ServedErrand(request) })
        origin.route(
            nil, "/chaos",
            .chosen { request throws(Refusal) in
                guard let errand = ChaosErrand(request.arguments) else { throw .badRequest("no errand") }
                let inChunks = request.field("Transfer-Encoding") != nil
                return .follow(errand.misbehaviour.script(for: errand, bodyInChunks: inChunks))
            })
        return origin
    }

    private static func tls(_ leaf: String) throws -> TLSServerConfiguration {
        TLSServerConfiguration(identities: [
            TLSServerIdentity(
                try TLSIdentity(pemChain: PKI.text("\(leaf)-chain.pem"), pemKey: PKI.text("\(leaf).key")))
        ])
    }

    private static func certificate(of door: ChaosDoor) -> String {
        switch door {
        case .expired: "expired"
        case .foreign: "wrong-host"
        case .untrusted: "untrusted"
        default: "ecdsa"
        }
    }

    /// What connections do instead of speaking HTTP.
    private static func script(of door: ChaosDoor) -> ScriptPlan? {
        switch door {
        case .resetting: ScriptPlan(on: .socket, .reset)
        case .closing: ScriptPlan(on: .socket, .close)
        case .silent: ScriptPlan(on: .socket, .expectEnd)
        case .babbling: ScriptPlan(on: .socket, .send("+OK ready to serve\r\n"), .expectEnd)
        case .alerting: ScriptPlan(on: .socket, .expectBytes(1), .sendAlert(40), .expectEnd)
        case .stallingHandshake: cut(.stall)
        case .resettingHandshake: cut(.reset)
        case .cuttingHandshake: cut(.end)
        default: nil
        }
    }

    /// Each connection's handshake is cut at another place; all are before its end.
    private static func cut(_ ending: WireCut.Ending) -> ScriptPlan {
        ScriptPlan(
            (0..<4_096).map { number in
                let bytes = 1 + (number * 37) % 900
                return Script([.startTLS(cutting: WireCut(after: bytes, ending)), .expectEnd], on: .socket)
            })
    }
}

/// Answers an errand in the ordinary way, if its body is the one that it should be. On the loop.
private final class ServedErrand: BodySink {
    private let errand: ChaosErrand
    private let expected: [UInt8]
    private var taken = 0
    private var isOther = false

    init(_ request: OriginRequest) throws(Refusal) {
        guard let errand = ChaosErrand(request.arguments) else { throw .badRequest("no errand") }
        self.errand = errand
        expected = errand.form.isUpload ? errand.upload : []
    }

    func receive(_ bytes: Span<UInt8>) throws(Refusal) {
        for index in 0..<bytes.count {
            if taken + index >= expected.count || bytes[index] != expected[taken + index] { isOther = true }
        }
        taken += bytes.count
    }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        guard taken == expected.count, !isOther else {
            throw Refusal(422, "\(taken) of \(expected.count) octets came")
        }
        var response = try OriginResponse(200, errand.form.contentType, errand.content)
        try response.add("X-Chaos", errand.name)
        return response
    }
}
