// SPDX-License-Identifier: MIT
internal import LupineTLS

/// The URLs to fetch, the number of concurrent requests, and the use of connections.
struct Job: Sendable {
    /// The use of the connections; the raw values are the arguments of the peers' programs.
    enum Mode: String {
        /// Every request has a new connection, closed after the response.
        case full
        /// `full` over TLS, where each handshake offers the session of an earlier connection.
        case resumed
        /// Keep-alive on connections that were made before the measurement.
        case get
        /// One request on each connection, all of which stay open: measures the heap of an idle connection.
        case idle
        /// `idle`, with a server that answers when all requests have arrived: measures the heap of a request in flight.
        case hold
    }

    let mode: Mode
    /// The TLS configuration; nil without TLS.
    let tls: TLSConfiguration?
    /// The hosts, used in turn.
    let hosts: [String]
    let port: UInt16
    let path: String
    let connections: Int
    let requests: Int
    /// Whether all requests use one HTTP/2 connection. Then `connections` is the number of streams.
    let sharesConnection: Bool
    /// The number of event loops; 0 for the process's default.
    let loops: Int

    /// Whether a connection carries further requests.
    var keepsConnections: Bool {
        switch mode {
        case .full, .resumed: false
        case .get, .idle, .hold: true
        }
    }

    /// Whether the job measures the memory of connections, not the cost of requests.
    var isAboutMemory: Bool { mode == .idle || mode == .hold }

    /// The path of the first request. If the server holds requests, whose paths are numbers, it is the path of a request that is
    /// not held.
    var firstPath: String { path.dropFirst().first?.isNumber == true ? "/1" : path }

    /// The limit of connections to a host.
    var connectionsPerHost: Int { sharesConnection ? 1 : connections }

    /// Throws if the load did not use connections as the mode requires. `connects` is the number of connections that were made
    /// during the measurement.
    func check(connects: Int) throws(LoadFailure) {
        let isExpected =
            switch mode {
            case .full, .resumed: connects == requests
            case .get, .hold: true
            // A late request may find an idle connection, in particular that of the warm-up.
            case .idle: connects >= requests - requests / 10
            }
        guard isExpected else { throw .wrongConnects(connects) }
    }

    /// Returns a TLS configuration for one version, with only the roots of a file; nil if the version is unknown. The rest is the
    /// library's default.
    static func tls(
        _ mode: Mode, version: String, authorities: String, http2: Bool
    ) -> TLSConfiguration? {
        let versions: [String: TLSVersion] = ["1.2": .v1_2, "1.3": .v1_3]
        guard let tlsVersion = versions[version] else { return nil }
        return TLSConfiguration(
            minimumVersion: tlsVersion, maximumVersion: tlsVersion,
            applicationProtocols: [http2 ? "h2" : "http/1.1"],
            roots: TrustRoots(includesSystem: false, files: [authorities]),
            resumesSessions: mode == .resumed)
    }
}
