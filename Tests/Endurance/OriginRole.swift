// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTransport

/// An origin process: `origin plain|tls FIRST COUNT` serves on COUNT addresses from `127.0.0.FIRST` on, each with two ports.
///
/// It prints its ports in one line, in order, followed by a semicolon and its certificate in Base64. Then it executes commands
/// from its input: `await NAME COUNT` prints `arrived` once COUNT requests for `/hold/NAME/...` have arrived, `open NAME` answers
/// them. It ends with its input, so that it does not outlive its parent.
struct OriginRole {
    private let isSecure: Bool
    private let hosts: Range<Int>
    private let arrivals = Arrivals()

    init?(_ arguments: ArraySlice<String>) {
        let words = Array(arguments)
        guard words.count == 3, ["plain", "tls"].contains(words[0]), let first = Int(words[1]),
            let count = Int(words[2]), first > 0, count > 0, first + count <= 255
        else { return nil }
        isSecure = words[0] == "tls"
        hosts = first..<first + count
    }

    func serve() async throws {
        var configuration = OriginConfiguration()
        configuration.idleTimeout = .seconds(3_600)
        // For clients that begin with HTTP/2, or negotiate it.
        configuration.http2 = HTTP2Behaviour()
        var certificate = ""
        if isSecure {
            let identity = try EphemeralIdentity.make()
            configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
            configuration.tls?.applicationProtocols = ["h2", "http/1.1"]
            certificate = Data(identity.certificate.der).base64EncodedString()
        }
        let loops = try EventLoopGroup(count: 2, name: "origin")
        var origins: [LupineOrigin.Origin] = []
        for host in hosts {
            for _ in 0..<2 {
                let origin = try Origin.start(
                    host: "127.0.0.\(host)", loops: loops, configuration: configuration)
                addRoutes(to: origin)
                origins.append(origin)
            }
        }
        say(origins.map { "\($0.port)" }.joined(separator: " ") + ";" + certificate)
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("await", 3):
                await arrivals.gate(words[1], at: Int(words[2]) ?? 0).wait()
                say("arrived")
            case ("open", 2): arrivals.exit(words[1]).open()
            default: say("not understood: \(line)")
            }
        }
        for origin in origins { await origin.shutdown() }
        await loops.shutdown()
    }

    private func addRoutes(to origin: LupineOrigin.Origin) {
        let arrivals = arrivals
        origin.route("GET", "/echo/{tag}") { request throws(Refusal) in
            try OriginResponse(200, "text/plain", Array(request.parameters[0].utf8))
        }
        // Closes the connection after each response, so that the next request over TLS needs another handshake.
        origin.route("GET", "/tls-once") { request throws(Refusal) in
            guard case .success(let info)? = request.tls?.outcome else {
                throw Refusal(404, "this is no TLS")
            }
            var response = try OriginResponse(json: .object([("resumed", .bool(info.isResumed))]))
            response.closesConnection = true
            return response
        }
        origin.route("GET", "/hold/{name}/{tag}") { request throws(Refusal) in
            var response = try OriginResponse(200, "text/plain", Array(request.parameters[1].utf8))
            response.gate = arrivals.exit(request.parameters[0])
            arrivals.count(request.parameters[0])
            return response
        }
    }

    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

/// Counts the requests that have arrived under each name, and keeps the gates that delay them. Any thread.
private final class Arrivals: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var exits: [String: Gate] = [:]
        var waiting: [String: [(count: Int, gate: Gate)]] = [:]
    }

    private let state = Lock(State())

    func count(_ name: String) {
        let full = state.withLock { state -> [Gate] in
            state.counts[name, default: 0] += 1
            let count = state.counts[name, default: 0]
            return state.waiting[name, default: []].filter { $0.count <= count }.map(\.gate)
        }
        for gate in full { gate.open() }
    }

    /// Returns a gate that opens once `count` requests have arrived.
    func gate(_ name: String, at count: Int) -> Gate {
        let gate = Gate()
        let isThere = state.withLock { state -> Bool in
            state.waiting[name, default: []].append((count, gate))
            return state.counts[name, default: 0] >= count
        }
        if isThere { gate.open() }
        return gate
    }

    /// Returns the gate for which all requests of that name wait.
    func exit(_ name: String) -> Gate {
        state.withLock { state in
            let gate = state.exits[name] ?? Gate()
            state.exits[name] = gate
            return gate
        }
    }
}
