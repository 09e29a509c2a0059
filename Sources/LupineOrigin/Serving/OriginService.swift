// SPDX-License-Identifier: MIT

internal import LupineTransport

/// What the connections of one origin share. Any thread.
final class OriginService: Sendable {
    let configuration: OriginConfiguration
    let counts = OriginCounts()
    let record: ByteRecord
    private let routes: Lock<Router>
    private let gates = Lock<[String: Gate]>([:])

    init(_ configuration: OriginConfiguration) {
        self.configuration = configuration
        record = ByteRecord(limit: configuration.recordedBytes)
        routes = Lock(Router.standard())
    }

    var router: Router { routes.withLock { $0 } }

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
