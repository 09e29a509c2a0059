// SPDX-License-Identifier: MIT
internal import LupineTLS

/// What is to be fetched, how many at a time, and over which connections.
struct Job: Sendable {
    /// What is done with the connections. The peers' programs know the modes by these names.
    enum Mode: String {
        /// Every request on a connection of its own, closed after the response.
        case full
        /// The same over TLS, but each handshake offers what an earlier connection left.
        case resumed
        /// Keep-alive on connections that were made before the clock starts.
        case get
        /// One request on each connection, all of which stay open: measures the heap that one holds.
        case idle
        /// The same on a server that answers when all have come: measures the heap that a request in flight holds.
        case hold
    }

    let mode: Mode
    /// How connections are secured; nil for not at all.
    let tls: TLSConfiguration?
    /// Asked in turn.
    let hosts: [String]
    let port: UInt16
    let path: String
    let connections: Int
    let requests: Int
    /// Whether all requests go over one HTTP/2 connection: `connections` are streams then.
    let sharesConnection: Bool
    /// 0 for the process' default.
    let loops: Int

    /// Whether a connection carries further requests.
    var keepsConnections: Bool {
        switch mode {
        case .full, .resumed: false
        case .get, .idle, .hold: true
        }
    }

    /// Whether it is about what connections hold, not about what requests cost.
    var isAboutMemory: Bool { mode == .idle || mode == .hold }

    /// The path of a first request: of a server that holds requests, whose paths are numbers, one that it does not hold.
    var firstPath: String { path.dropFirst().first?.isNumber == true ? "/1" : path }

    /// How many connections there may be to a host.
    var connectionsPerHost: Int { sharesConnection ? 1 : connections }

    /// Throws when the load measured something else than the mode is about; `connects` were made while the clock ran.
    func check(connects: Int) throws(LoadFailure) {
        let isRight =
            switch mode {
            case .full, .resumed: connects == requests
            case .get, .hold: true
            // A request that comes late may find a connection that already lies idle, the warm-up's first of all.
            case .idle: connects >= requests - requests / 10
            }
        guard isRight else { throw .wrongConnects(connects) }
    }

    /// TLS of one version, with nobody trusted but those of a file; nil when the version is not known. Everything else is
    /// the library's default.
    static func tls(
        _ mode: Mode, version: String, authorities: String, http2: Bool
    ) -> TLSConfiguration? {
        let versions: [String: TLSVersion] = ["1.2": .v1_2, "1.3": .v1_3]
        guard let only = versions[version] else { return nil }
        return TLSConfiguration(
            minimumVersion: only, maximumVersion: only,
            applicationProtocols: [http2 ? "h2" : "http/1.1"],
            roots: TrustRoots(includesSystem: false, files: [authorities]),
            resumesSessions: mode == .resumed)
    }
}
