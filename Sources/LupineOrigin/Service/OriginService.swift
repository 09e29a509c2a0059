// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// The state that the connections of one origin share. Any thread may use it.
final class OriginService: Sendable {
    let configuration: OriginConfiguration
    let counts = OriginCounts()
    let record: ByteRecord
    let handshakes: HandshakeRecord
    let priorities = PriorityRecord()
    /// The TLS contexts, which connections use in turn; empty without TLS.
    private let contexts: [TLSServerContext]
    private let routes: Lock<Router>
    private let gates = Lock<[String: Gate]>([:])

    init(_ configuration: OriginConfiguration) throws(TLSError) {
        self.configuration = configuration
        var contexts: [TLSServerContext] = []
        if let tls = configuration.tls {
            for settings in [tls] + configuration.additionalTLS {
                contexts.append(try TLSServerContext(settings))
            }
        }
        self.contexts = contexts
        handshakes = HandshakeRecord(counts)
        record = ByteRecord(limit: configuration.recordedBytes)
        routes = Lock(Router.standard())
    }

    /// Whether connections use TLS.
    var isSecure: Bool { !contexts.isEmpty }

    /// Returns the TLS context of a connection; nil without TLS.
    func tls(for number: Int) -> TLSServerContext? {
        contexts.isEmpty ? nil : contexts[number % contexts.count]
    }

    /// A copy of the routes.
    var router: Router { routes.withLock { $0 } }

    /// Returns the endpoint for a method and a path; if only the method does not match, the methods that the path accepts.
    func match(_ method: String, _ path: String) -> Router.Match {
        if let endpoint = configuration.endpoint { return .endpoint(endpoint, parameters: []) }
        return router.match(method, path)
    }

    /// Adds an endpoint that precedes the existing ones.
    func add(_ method: String?, _ pattern: String, _ endpoint: Endpoint) {
        routes.withLock { $0.add(method.map { [$0] }, pattern, endpoint, precedes: true) }
    }

    /// Returns the gate with a name: creates it on the first call, and returns the same gate for later ones.
    func gate(_ name: String) -> Gate {
        gates.withLock { gates in
            if let gate = gates[name] { return gate }
            let gate = Gate()
            gates[name] = gate
            return gate
        }
    }
}
