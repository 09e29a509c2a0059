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

    /// The first origin, which uses plain HTTP.
    let origin: Server
    /// The second origin, which uses TLS.
    let secureOrigin: Server
    /// The certificate of the second origin, used by no other server.
    let certificate: Certificate
    /// The session that the acts use, except for the one about pinning.
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
        // Every third request succeeds.
        let attempts = Lock(0)
        origin.route("GET", "/flaky") { _ throws(Refusal) in
            let number = attempts.withLock { attempts in
                attempts += 1
                return attempts
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

    /// Shuts the origins down.
    func shutDown() async {
        await origin.shutdown()
        await secureOrigin.shutdown()
    }

    // MARK: output

    /// Prints the heading of an act in bold.
    func printTitle(_ number: Int, _ text: String) {
        say("\n\(styled("\(number). \(text)", "1"))\n\n")
    }

    /// Prints the code that is about to run, in cyan.
    func printCode(_ text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            say("    \(styled(String(line), "36"))\n")
        }
        say("\n")
    }

    /// Prints lines of an act's result. `lines:` keeps their line ends; a plain interpolation would escape them.
    func printResult(_ text: String) { say("  \(lines: text)\n") }

    /// Prints a text as it is.
    func say(_ text: TerminalText) { context.output.say(text) }

    /// Returns the text with a parameter of Select Graphic Rendition (ECMA-48 §8.3.117), if the output is coloured.
    private func styled(_ text: String, _ attribute: String) -> TerminalText {
        isColored && !text.isEmpty ? "\u{1B}[\(attribute)m\(text)\u{1B}[0m" : "\(text)"
    }

    /// Throws a `DemoFailure`, which ends the demo, if the condition is false.
    ///
    /// - Parameters:
    ///   - condition: The result that the act expects.
    ///   - expectation: The condition in words, for the failure.
    func require(_ condition: Bool, _ expectation: String) throws {
        if !condition { throw DemoFailure(description: expectation) }
    }
}

/// Thrown when an act does not have the expected result.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
}

/// One feature that the demo shows.
protocol DemoAct: Sendable {
    static var title: String { get }
    /// The source code to print. Each of its lines also occurs in `run` or next to it, which therefore has constants such as
    /// `session` and `root`. A line that begins with `$` is a shell command.
    static var code: String { get }
    /// Runs the code and prints its result.
    static func run(in demo: DemoContext) async throws
}
