// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineOrigin
internal import LupineTLS
internal import LupineTestKit
internal import LupineTransport

/// The origin that misbehaves as requested: one origin for each door, with and without TLS, on loops that they share.
///
/// The door determines the behaviour of a connection before a request; each request selects the rest. Clients that begin with
/// HTTP/2, or negotiate it, get it. Any thread.
package final class ChaosOrigin: Sendable {
    /// The ports of the doors.
    package let doors: ChaosDoors
    private let origins: [LupineOrigin.Origin]
    private let group: EventLoopGroup
    private let dead: [UnreachablePort]

    /// Starts the origins of all doors.
    package init(loops: Int = 2) throws {
        let group = try EventLoopGroup(count: loops, name: "lupine-chaos")
        let log = TrialLog()
        var doors = ChaosDoors()
        var origins: [LupineOrigin.Origin] = []
        var dead: [UnreachablePort] = []
        for isSecure in [false, true] {
            for door in ChaosDoor.allCases where isSecure || door.isPlainToo {
                switch door {
                case .refused, .unanswered:
                    let end = try UnreachablePort(isListening: door == .unanswered)
                    doors[door, secure: isSecure] = end.port
                    dead.append(end)
                default:
                    let origin = try Self.origin(door, isSecure, group, log)
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

    /// Ends all origins.
    package func shutdown() async {
        for origin in origins { await origin.shutdown() }
        await group.shutdown()
    }

    private static func origin(
        _ door: ChaosDoor, _ isSecure: Bool, _ group: EventLoopGroup, _ log: TrialLog
    ) throws -> LupineOrigin.Origin {
        var configuration = OriginConfiguration()
        configuration.script = script(of: door)
        configuration.http2 = behaviour(of: door)
        if isSecure {
            configuration.tls = try tls(certificate(of: door))
            configuration.tls?.applicationProtocols = protocols
            if door == .old { configuration.tls?.maximumVersion = .v1_2 }
            if door == .turning {
                configuration.additionalTLS = [try tls("renewed-other-key"), try tls("expired")]
                for index in 0..<2 { configuration.additionalTLS[index].applicationProtocols = protocols }
            }
        }
        let origin = try LupineOrigin.Origin.start(loops: group, configuration: configuration)
        origin.route(nil, "/served", .streamed { request throws(Refusal) in try ServedTrial(request, log) })
        origin.route(
            nil, "/chaos",
            .chosen { request throws(Refusal) in
                guard let trial = ChaosTrial(request.arguments) else { throw .badRequest("no trial") }
                let isFirst = log.record(trial)
                if request.head.version == .http2 {
                    return .perform(trial.misbehaviour.streamScript(for: trial, isFirst: isFirst))
                }
                let inChunks = request.field("Transfer-Encoding") != nil
                return .follow(trial.misbehaviour.script(for: trial, bodyInChunks: inChunks))
            })
        origin.route("GET", "/repeated") { request throws(Refusal) in
            let seed = request.arguments["s"].flatMap { UInt64($0) }
            let names = log.takeRepeated(seed: seed ?? 0).joined(separator: "\n")
            return try OriginResponse(200, "text/plain", Array(names.utf8))
        }
        return origin
    }

    private static let protocols = ["h2", "http/1.1"]

    /// Returns the HTTP/2 behaviour of a door: with small windows, so that uploads need many window updates.
    private static func behaviour(of door: ChaosDoor) -> HTTP2Behaviour {
        var behaviour = HTTP2Behaviour()
        switch door {
        case .leaving:
            behaviour.maxConcurrentStreams = 16
            behaviour.streamWindow = 1_000
            behaviour.requestsPerConnection = 60
        case .streams:
            behaviour.streamWindow = 8_000
            behaviour.connectionWindow = 65_535
        default: break
        }
        return behaviour
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

    /// Returns the script of connections that do not speak HTTP.
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

    /// Returns a plan that cuts each connection's handshake at another offset, always before its end.
    private static func cut(_ ending: WireCut.Ending) -> ScriptPlan {
        ScriptPlan(
            (0..<4_096).map { number in
                let bytes = 1 + (number * 37) % 900
                return Script([.startTLS(cutting: WireCut(after: bytes, ending)), .expectEnd], on: .socket)
            })
    }
}

/// Answers a trial normally, if its body is the expected one. On the loop.
private final class ServedTrial: BodySink {
    private let trial: ChaosTrial
    private let expected: [UInt8]
    private var taken = 0
    private var isOther = false

    init(_ request: OriginRequest, _ log: TrialLog) throws(Refusal) {
        guard let trial = ChaosTrial(request.arguments) else { throw .badRequest("no trial") }
        _ = log.record(trial)
        self.trial = trial
        expected = trial.form.isUpload ? trial.upload : []
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
        var response = try OriginResponse(200, trial.form.contentType, trial.content)
        try response.add("X-Chaos", trial.name)
        return response
    }
}
