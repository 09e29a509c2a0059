// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineCommand
import LupineOrigin
import LupineTLS
import LupineTransport

/// The state that the acts of the demo share: two origins in this process, a session for the first, and the output.
final class DemoContext: Sendable {
    typealias Server = LupineOrigin.Origin

    let origin: Server
    let secureOrigin: Server
    /// The certificate of the second origin, used by no other server.
    let certificate: Certificate
    let session: Session
    let context: ProcessContext
    private let isColored: Bool

    init(_ context: ProcessContext) throws {
        self.context = context
        isColored = context.output.isTerminal && (context.environment["NO_COLOR"] ?? "").isEmpty
        origin = try Server.start()
        let identity = try EphemeralIdentity.make()
        certificate = identity.certificate
        var configuration = OriginConfiguration()
        configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        secureOrigin = try Server.start(configuration: configuration)
        session = Session(configuration: .ephemeral)
        addEndpoints()
    }

    /// Adds the endpoints that the acts need beyond the standard ones.
    private func addEndpoints() {
        origin.route("GET", "/flowers") { _ throws(Refusal) in
            let text =
                #"[{"name": "Texas bluebonnet", "petals": 5}, {"name": "Yellow bush lupine", "petals": 5}]"#
            return try OriginResponse(200, "application/json", Array(text.utf8))
        }
        let tries = Lock(0)
        origin.route("GET", "/flaky") { _ throws(Refusal) in
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return try OriginResponse(
                number % 3 == 0 ? 200 : 503, "text/plain", Array("attempt \(number)".utf8))
        }
        origin.route("GET", "/me") { request throws(Refusal) in
            guard request.field("Authorization") == "Bearer fresh" else {
                throw Refusal(401, "this token is old")
            }
            return try OriginResponse(200, "text/plain", Array("Ada".utf8))
        }
        origin.route("POST", "/token") { _ throws(Refusal) in
            try OriginResponse(200, "text/plain", Array("fresh".utf8))
        }
    }

    /// The URL of the first origin.
    var root: String { origin.url }
    /// The URL of the second origin.
    var secureRoot: String { secureOrigin.url }
    /// The number of requests that the second origin has received and parsed.
    var secureRequests: Int { secureOrigin.counts.requests }

    func end() async {
        await origin.shutdown()
        await secureOrigin.shutdown()
    }

    // MARK: output

    func title(_ number: Int, _ text: String) {
        say("\n\(paint("\(number). \(text)", "1"))\n\n")
    }

    /// Prints the code that is about to run.
    func code(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            say("    \(paint(String(line), "36"))\n")
        }
        say("\n")
    }

    func printResult(_ text: String) { say("  \(lines: text)\n") }

    func say(_ text: TerminalText) { context.output.say(text) }

    private func paint(_ text: String, _ ink: String) -> TerminalText {
        isColored && !text.isEmpty ? "\u{1B}[\(ink)m\(text)\u{1B}[0m" : "\(text)"
    }

    /// Throws a `DemoFailure`, which ends the demo, if the condition is false.
    func require(_ condition: Bool, _ what: String) throws {
        if !condition { throw DemoFailure(description: what) }
    }
}

/// Thrown when an act does not have the expected result.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
}

/// One feature that the demo shows. `code` is the source code to print, word for word as in `run`, which shows the result.
protocol DemoAct: Sendable {
    static var title: String { get }
    static var code: String { get }
    static func run(in demo: DemoContext) async throws
}
