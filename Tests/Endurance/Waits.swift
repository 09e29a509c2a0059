// SPDX-License-Identifier: MIT

/// How long requests took, host by host. A value.
struct Waits {
    private var hosts: [[Duration]]
    /// What was wrong with answers.
    private(set) var wrong: [String] = []
    /// How long all of them took together.
    var whole = Duration.zero

    /// None yet, of so many hosts.
    init(hosts count: Int) { hosts = Array(repeating: [], count: count) }

    mutating func add(_ wait: Duration, _ host: Int) { hosts[host].append(wait) }
    mutating func add(wrong answer: String) { wrong.append(answer) }

    mutating func add(_ other: Waits) {
        for (host, waits) in other.hosts.enumerated() { hosts[host] += waits }
        wrong += other.wrong
    }

    /// How many answers were right.
    var count: Int { hosts.reduce(0) { $0 + $1.count } }

    /// `p50 ..., p90 ..., p99 ..., max ...` and the rate.
    var distribution: String {
        let all = hosts.joined().sorted()
        guard let last = all.last else { return "nothing" }
        let parts = [50, 90, 99].map { "p\($0) \(Self.text(all[(all.count - 1) * $0 / 100]))" }
        let rate = Double(all.count) / max(Self.seconds(whole), 1e-9)
        return (parts + ["max \(Self.text(last))", "\(Int(rate)) requests/s"]).joined(separator: "  ")
    }

    /// The mean waits of the host that waited least, and of the one that waited most.
    var extremes: (least: Duration, most: Duration) {
        let means = hosts.filter { !$0.isEmpty }.map { $0.reduce(.zero, +) / $0.count }
        return (means.min() ?? .zero, means.max() ?? .zero)
    }

    /// How many times as long as another the host waited that waited most.
    var unfairness: Double { Self.seconds(extremes.most) / max(Self.seconds(extremes.least), 1e-9) }

    static func seconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    static func text(_ duration: Duration) -> String {
        "\((seconds(duration) * 10_000).rounded() / 10) ms"
    }
}
