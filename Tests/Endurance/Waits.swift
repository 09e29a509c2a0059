// SPDX-License-Identifier: MIT

/// The latencies of requests by host. A value.
struct Waits {
    private var hosts: [[Duration]]
    /// Descriptions of wrong responses.
    private(set) var wrong: [String] = []
    /// The duration of all requests together.
    var whole = Duration.zero

    /// Creates an empty record for `count` hosts.
    init(hosts count: Int) { hosts = Array(repeating: [], count: count) }

    mutating func add(_ wait: Duration, _ host: Int) { hosts[host].append(wait) }
    mutating func add(wrong answer: String) { wrong.append(answer) }

    mutating func add(_ other: Waits) {
        for (host, waits) in other.hosts.enumerated() { hosts[host] += waits }
        wrong += other.wrong
    }

    /// The number of right responses.
    var count: Int { hosts.reduce(0) { $0 + $1.count } }

    /// The percentiles as `p50 ..., p90 ..., p99 ..., max ...`, and the rate.
    var distribution: String {
        let all = hosts.joined().sorted()
        guard let last = all.last else { return "nothing" }
        let parts = [50, 90, 99].map { "p\($0) \(Self.text(all[(all.count - 1) * $0 / 100]))" }
        let rate = Double(all.count) / max(Self.seconds(whole), 1e-9)
        return (parts + ["max \(Self.text(last))", "\(Int(rate)) requests/s"]).joined(separator: "  ")
    }

    /// The smallest and the largest mean wait of a host.
    var extremes: (least: Duration, most: Duration) {
        let means = hosts.filter { !$0.isEmpty }.map { $0.reduce(.zero, +) / $0.count }
        return (means.min() ?? .zero, means.max() ?? .zero)
    }

    /// The ratio of the largest to the smallest mean wait of a host.
    var unfairness: Double { Self.seconds(extremes.most) / max(Self.seconds(extremes.least), 1e-9) }

    static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    static func text(_ duration: Duration) -> String {
        "\((seconds(duration) * 10_000).rounded() / 10) ms"
    }
}
