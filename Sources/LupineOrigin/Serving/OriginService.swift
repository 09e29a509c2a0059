// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// What the connections of one origin share. Any thread.
final class OriginService: Sendable {
    let configuration: OriginConfiguration
    let counts = OriginCounts()
    let record: ByteRecord
    let handshakes: HandshakeRecord
    let priorities = PriorityRecord()
    /// What connections speak TLS with, in turn; empty if they do not.
    private let contexts: [TLSServerContext]
    private let routes: Lock<Router>
    private let gates = Lock<[String: Gate]>([:])

    init(_ configuration: OriginConfiguration) throws(TLSError) {
        self.configuration = configuration
        var contexts: [TLSServerContext] = []
        if let tls = configuration.tls {
            for one in [tls] + configuration.furtherTLS { contexts.append(try TLSServerContext(one)) }
        }
        self.contexts = contexts
        handshakes = HandshakeRecord(counts)
        record = ByteRecord(limit: configuration.recordedBytes)
        routes = Lock(Router.standard())
    }

    /// Whether connections speak TLS.
    var isSecure: Bool { !contexts.isEmpty }

    /// What connection `number` speaks TLS with; nil if it does not.
    func tls(for number: Int) -> TLSServerContext? {
        contexts.isEmpty ? nil : contexts[number % contexts.count]
    }

    var router: Router { routes.withLock { $0 } }

    /// What there is for a path.
    func match(_ method: String, _ path: String) -> Router.Match {
        if let endpoint = configuration.endpoint { return .endpoint(endpoint, parameters: []) }
        return router.match(method, path)
    }

    func add(_ method: String?, _ pattern: String, _ endpoint: Endpoint) {
        routes.withLock { $0.add(method.map { [$0] }, pattern, endpoint, first: true) }
    }

    /// The gate of that name, the same one for everybody who asks.
    func gate(_ name: String) -> Gate {
        gates.withLock { gates in
            if let gate = gates[name] { return gate }
            let gate = Gate()
            gates[name] = gate
            return gate
        }
    }
}
