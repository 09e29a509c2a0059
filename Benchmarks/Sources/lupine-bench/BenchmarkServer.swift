// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Foundation

/// A server that `Scripts/bench` has started; the value is the variable that holds its address.
enum BenchmarkServer: String {
    case plain = "LUPINE_BENCH_SERVER"
    case tls = "LUPINE_BENCH_TLS_SERVER"
    /// The one that is spoken to in HTTP/2, in the clear and over TLS. It has `/N` of the one below.
    case http2 = "LUPINE_BENCH_HTTP2_SERVER"
    case http2TLS = "LUPINE_BENCH_HTTP2_TLS_SERVER"
    /// nghttpd, over TLS.
    case nghttpd = "LUPINE_BENCH_NGHTTPD_SERVER"
    /// The one that answers `/N` when N requests have come.
    case hold = "LUPINE_BENCH_HOLD_SERVER"
    /// The one that reads what it is sent, and keeps none of it.
    case sink = "LUPINE_BENCH_SINK_SERVER"

    static let absence = "no server; Scripts/bench starts one where it is installed"

    /// Whether it speaks TLS.
    var isSecure: Bool {
        switch self {
        case .tls, .http2TLS, .nghttpd: true
        case .plain, .http2, .hold, .sink: false
        }
    }

    /// Nil when there is no server.
    var address: (host: String, port: String)? {
        let parts = ProcessInfo.processInfo.environment[rawValue]?.split(separator: ":") ?? []
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    /// The first of a thousand addresses that nginx listens to; nil when it has one.
    static var manyHosts: String? { ProcessInfo.processInfo.environment["LUPINE_BENCH_HOSTS"] }

    /// The only roots of the server's certificate.
    static var authorities: String { ProcessInfo.processInfo.environment["LUPINE_BENCH_TLS_ROOT"] ?? "" }

    /// How many connections nginx has taken and how many requests it has answered, over both of its ports.
    static func totals() -> server_totals? {
        guard let (host, port) = plain.address, let number = UInt16(port) else { return nil }
        var totals = server_totals()
        return unsafe server_totals_read(host, number, &totals) ? totals : nil
    }
}
