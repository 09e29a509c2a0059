// SPDX-License-Identifier: MIT

import Foundation
import LupineChaos

/// Runs one round after the other, checks what the process has left after each, and reports failures with the command that
/// repeats them.
final class ChaosRun: Sendable {
    private let doors: ChaosDoors
    private let folder: String
    private let seeds: [UInt64]
    private let requests: Int
    /// Nil uses TLS for every second seed.
    private let isSecure: Bool?
    /// Nil lets the seed decide.
    private let version: ChaosVersion?
    private let patience: Duration

    /// Parses the arguments; nil if they are wrong.
    init?(_ doors: ChaosDoors, _ folder: String, _ arguments: [String]) {
        var seeds: [UInt64] = []
        var (count, requests, patience) = (10, 1_000, 60)
        var isSecure: Bool?
        var version: ChaosVersion?
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--tls": isSecure = true
            case "--plain": isSecure = false
            case "--http1": version = .http1
            case "--http2": version = .http2
            case "--seeds", "--requests", "--seed", "--patience":
                guard let number = rest.popFirst().flatMap({ Int($0) }), number > 0 else { return nil }
                switch option {
                case "--seeds": count = number
                case "--requests": requests = number
                case "--patience": patience = number
                default: seeds.append(UInt64(number))
                }
            default: return nil
            }
        }
        self.doors = doors
        self.folder = folder
        self.seeds = seeds.isEmpty ? (1...count).map { UInt64($0) } : seeds
        self.requests = requests
        self.isSecure = isSecure
        self.version = version
        self.patience = .seconds(patience)
    }

    /// Runs all rounds; returns whether every invariant held.
    func holds() async throws -> Bool {
        // Creates the objects that are created once and kept, such as the loops.
        for isSecure in [false, true] {
            for version in ChaosVersion.allCases {
                _ = try await round(0, 150, isSecure, version).run(since: nil)
            }
        }
        let before = await ProcessInventory.settled()
        report("before: \(Self.summary(before))")
        var tally = ChaosTally()
        var broken: [String] = []
        let begin = ContinuousClock.now
        for (index, seed) in seeds.enumerated() {
            let isSecure = isSecure ?? (seed % 2 == 1)
            let version = version ?? ChaosVersion(seed: seed)
            let round = round(seed, requests, isSecure, version)
            let start = ContinuousClock.now
            let watchdog = Watchdog(round, patience) { Self.replay(seed, self.requests, isSecure, version) }
            let (own, violations) = try await round.run(since: before)
            watchdog.end()
            tally.add(own)
            let rate = Double(requests) / Self.seconds(since: start)
            report(
                "[\(index + 1)/\(seeds.count)] seed \(seed) \(version)\(isSecure ? " tls" : ""): \(own.requests) requests, "
                    + "\(own.whole) whole, \(own.retries) retries, \(Int(rate)) requests/s"
                    + (violations.isEmpty ? "" : ", \(violations.count) VIOLATIONS"))
            guard !violations.isEmpty else { continue }
            for violation in violations.prefix(20) { report("  seed \(seed): \(violation)") }
            let replay = Self.replay(seed, requests, isSecure, version)
            report("  to have it again: \(replay)")
            broken.append(replay)
        }
        let time = Self.seconds(since: begin)
        report(tally.table)
        report(
            "\(tally.requests) requests over \(seeds.count) seeds, \(tally.whole) whole, \(tally.retries) retries, "
                + String(format: "%.1f s, %.0f requests/s", time, Double(tally.requests) / time))
        let after = ProcessInventory.now()
        report("after: \(Self.summary(after))")
        if !broken.isEmpty { report("broken: \(broken.count) seeds\n" + broken.joined(separator: "\n")) }
        return broken.isEmpty
    }

    private func round(
        _ seed: UInt64, _ requests: Int, _ isSecure: Bool, _ version: ChaosVersion
    ) -> ChaosRound {
        ChaosRound(
            seed: seed, requests: requests, secure: isSecure, over: version, doors: doors, folder: folder)
    }

    private static func replay(
        _ seed: UInt64, _ requests: Int, _ isSecure: Bool, _ version: ChaosVersion
    ) -> String {
        "Scripts/chaos --seed \(seed) --requests \(requests) \(isSecure ? "--tls" : "--plain") --\(version)"
    }

    private static func summary(_ inventory: ProcessInventory) -> String {
        "\(inventory.descriptors.count) descriptors, \(inventory.ownThreads.count) threads of the library's, "
            + "\(inventory.threads) threads in all, \(inventory.temporary.count) temporary files, "
            + "\(inventory.resident >> 10) MiB resident"
    }

    private static func seconds(since begin: ContinuousClock.Instant) -> Double {
        begin.duration(to: .now) / .seconds(1)
    }
}
