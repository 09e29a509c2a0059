// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Foundation

/// A server that `Scripts/bench` starts; the raw value is the variable that holds its address.
enum BenchmarkServer: String {
    case plain = "LUPINE_BENCH_SERVER"
    case tls = "LUPINE_BENCH_TLS_SERVER"
    /// The HTTP/2 server, without and with TLS. It also serves the paths `/N` of `hold`.
    case http2 = "LUPINE_BENCH_HTTP2_SERVER"
    case http2TLS = "LUPINE_BENCH_HTTP2_TLS_SERVER"
    /// nghttpd, over TLS.
    case nghttpd = "LUPINE_BENCH_NGHTTPD_SERVER"
    /// A server that answers `/N` when N requests have arrived.
    case hold = "LUPINE_BENCH_HOLD_SERVER"
    /// A server that reads content, and discards it.
    case sink = "LUPINE_BENCH_SINK_SERVER"

    /// The reason why an entry without a server does not run.
    static let absenceReason = "no server; Scripts/bench starts one where it is installed"

    /// Whether the server uses TLS.
    var isSecure: Bool {
        switch self {
        case .tls, .http2TLS, .nghttpd: true
        case .plain, .http2, .hold, .sink: false
        }
    }

    /// The host and port; nil if there is no server.
    var address: (host: String, port: String)? {
        let parts = ProcessInfo.processInfo.environment[rawValue]?.split(separator: ":") ?? []
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    /// The first of a thousand addresses on which nginx listens; nil if it has only one.
    static var manyHosts: String? { ProcessInfo.processInfo.environment["LUPINE_BENCH_HOSTS"] }

    /// The file with the only roots for the server's certificate.
    static var authorities: String { ProcessInfo.processInfo.environment["LUPINE_BENCH_TLS_ROOT"] ?? "" }

    /// Returns the numbers of connections and requests that nginx has accepted, on both of its ports.
    static func totals() -> server_totals? {
        guard let (host, port) = plain.address, let number = UInt16(port) else { return nil }
        var totals = server_totals()
        return unsafe server_totals_read(host, number, &totals) ? totals : nil
    }
}
