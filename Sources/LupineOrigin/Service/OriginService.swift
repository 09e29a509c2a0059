// SPDX-License-Identifier: MIT

internal import LupineTLS
internal import LupineTransport

/// The state that the connections of one origin share. Any thread may use it.
final class OriginService: Sendable {
    let configuration: OriginConfiguration
    let counts = OriginCounts()
    let byteRecord: ByteRecord
    let handshakeRecord: HandshakeRecord
    let priorityRecord = PriorityRecord()
    /// The TLS contexts, which connections use in turn; empty without TLS.
    private let tlsContexts: [TLSServerContext]
    private let sharedRouter: Lock<Router>
    /// The gates, by name.
    private let gates = Lock<[String: Gate]>([:])

    /// Creates the state of an origin. Throws if OpenSSL rejects a TLS configuration.
    init(_ configuration: OriginConfiguration) throws(TLSError) {
        self.configuration = configuration
        var tlsContexts: [TLSServerContext] = []
        if let tls = configuration.tls {
            for tlsConfiguration in [tls] + configuration.additionalTLS {
                tlsContexts.append(try TLSServerContext(tlsConfiguration))
            }
        }
        self.tlsContexts = tlsContexts
        handshakeRecord = HandshakeRecord(counts)
        byteRecord = ByteRecord(limit: configuration.recordedBytes)
        sharedRouter = Lock(Router.standard())
    }

    /// Whether connections use TLS.
    var usesTLS: Bool { !tlsContexts.isEmpty }

    /// Returns the TLS context of the connection with this number; nil without TLS.
    func tlsContext(forConnection number: Int) -> TLSServerContext? {
        tlsContexts.isEmpty ? nil : tlsContexts[number % tlsContexts.count]
    }

    /// A copy of the router.
    var router: Router { sharedRouter.withLock { $0 } }

    /// Returns the endpoint for a method and a path. If only the method does not match, returns the methods that the path
    /// accepts.
    func match(_ method: String, _ path: String) -> Router.Match {
        // One endpoint for all requests replaces the router.
        if let endpoint = configuration.endpoint { return .endpoint(endpoint, parameters: []) }
        return router.match(method, path)
    }

    /// Adds an endpoint that precedes the existing ones. A nil `method` stands for all methods.
    func add(_ method: String?, _ pattern: String, _ endpoint: Endpoint) {
        sharedRouter.withLock { $0.add(method.map { [$0] }, pattern, endpoint, precedesExisting: true) }
    }

    /// Returns the gate with a name. The first call for the name creates the gate; later calls return the same one.
    func gate(_ name: String) -> Gate {
        gates.withLock { gates in
            if let gate = gates[name] { return gate }
            let gate = Gate()
            gates[name] = gate
            return gate
        }
    }
}
