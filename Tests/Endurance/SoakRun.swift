// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTransport

/// Mixed work for a given time, in rounds; after each the process is measured while no work is in progress. A quantity that grows
/// from round to round after the warm-up is a leak.
///
/// The first third of the rounds is the warm-up: loops, caches and memory pools reach their size. From the other rounds the slope
/// of each quantity is computed, and compared with the permitted growth per piece of work.
struct SoakRun {
    let seconds: Int
    let kinds: [SoakWork]
    private static let workers = 24
    private static let rounds = 60
    private static let warm = 20

    /// A quantity of the process, and its permitted growth.
    private struct Measure: Sendable {
        let name: String
        let unit: String
        /// The permitted growth between the end of the warm-up and the last round: a constant, and a part for each piece of work.
        let allowance: Double
        let perWork: Double
        let read: @Sendable (ProcessGauge) -> Int
    }

    private static let measures = [
        Measure(name: "resident", unit: "bytes", allowance: 33_554_432, perWork: 8) { $0.resident },
        Measure(name: "heap", unit: "bytes", allowance: 2_097_152, perWork: 2) { $0.heap },
        Measure(name: "descriptors", unit: "", allowance: 8, perWork: 0) { $0.descriptors },
        // The other threads are the system's, whose number depends on the load.
        Measure(name: "own threads", unit: "", allowance: 0, perWork: 0) { $0.ownThreads },
        Measure(name: "threads", unit: "", allowance: 16, perWork: 0) { $0.threads },
    ]

    /// Returns the expectations that were not met.
    func run() async throws -> [String] {
        let plain = try OriginChild(hosts: 1..<2)
        let secure = try OriginChild(secure: true, hosts: 1..<2)
        let stage = try SoakStage(plain, secure)
        let multiplexed = SoakStage(multiplexed: stage)
        var failures: [String] = []
        var gauges: [ProcessGauge] = []
        var works: [Int] = []
        let start = ContinuousClock.now
        let share = Duration.seconds(seconds) / Self.rounds
        for round in 1...Self.rounds {
            let done = await work(stage, multiplexed, until: start + share * round, first: works.reduce(0, +))
            works.append(done.count)
            failures += done.failures
            // Cancelled connections close on their loops, shortly after the last response.
            await Pause.of(.milliseconds(200))
            gauges.append(try ProcessGauge.read())
            if round % (Self.rounds / 10) == 0 { report(round, works, gauges[round - 1]) }
            if failures.count > 20 { break }
        }
        failures += judge(Array(gauges.dropFirst(Self.warm)), works.dropFirst(Self.warm + 1).reduce(0, +))
        let tally = stage.tally.withLock { $0 }
        print("handshakes   \(tally.handshakes), \(tally.resumptions) of them resumed")
        print("downloads    \(tally.cuts) cut, \(tally.restarts) of them begun again")
        if tally.resumptions * 2 < tally.handshakes { failures.append("few handshakes were resumed") }
        if tally.restarts * 4 > tally.cuts { failures.append("few downloads were gone on with") }
        let litter = try stage.litter()
        if !litter.isEmpty { failures.append("files are left: \(litter)") }
        stage.removeFiles()
        try plain.end()
        try secure.end()
        return failures
    }

    private func report(_ round: Int, _ works: [Int], _ gauge: ProcessGauge) {
        print(
            "round \(round)  \(works.reduce(0, +)) pieces of work, resident \(gauge.resident >> 10) KiB, heap "
                + "\(gauge.heap >> 10) KiB, \(gauge.descriptors) descriptors, \(gauge.threads) threads")
    }

    /// Runs the workers, each of which cycles through the kinds of work from a different start until the time is over.
    private func work(
        _ stage: SoakStage, _ multiplexed: SoakStage, until end: ContinuousClock.Instant, first: Int
    ) async -> (count: Int, failures: [String]) {
        await withTaskGroup(of: (Int, [String]).self) { group in
            for worker in 0..<Self.workers {
                group.addTask {
                    var (count, failures) = (0, [String]())
                    // Does each kind at least once, so that rounds on a slow machine are mixed, too.
                    while count < kinds.count || ContinuousClock.now < end, failures.isEmpty {
                        let kind = kinds[(worker + count) % kinds.count]
                        // Every other worker uses HTTP/2.
                        let own = worker % 2 == 1 && kind.isForEitherVersion ? multiplexed : stage
                        do { try await kind.run(own, first + worker + count) } catch {
                            failures.append("\(kind): \(error)")
                        }
                        count += 1
                    }
                    return (count, failures)
                }
            }
            var sum = (count: 0, failures: [String]())
            for await (count, failures) in group {
                sum.count += count
                sum.failures += failures
            }
            return sum
        }
    }

    private func judge(_ gauges: [ProcessGauge], _ work: Int) -> [String] {
        var failures: [String] = []
        for measure in Self.measures {
            let readings = gauges.map { measure.read($0) }
            let growth = Slope(readings).perReading * Double(max(readings.count - 1, 0))
            let most = measure.allowance + measure.perWork * Double(work)
            let each = work == 0 ? 0 : growth / Double(work)
            print(
                "\(measure.name.padding(toLength: 12, withPad: " ", startingAt: 0)) "
                    + "\(readings.first ?? 0) -> \(readings.last ?? 0) \(measure.unit), slope \(Self.text(each * 1_000)) per 1000 "
                    + "pieces of work, \(Self.text(growth)) over \(work); allowed \(Self.text(most))")
            if growth > most { failures.append("\(measure.name) grows") }
        }
        return failures
    }

    private static func text(_ number: Double) -> String { String(format: "%.2f", number) }
}
