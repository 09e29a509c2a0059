// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Glibc

/// Runs a job and prints its cost as one JSON object, like the peers' programs, but without `connects`, which sessions do not
/// report.
///
/// A round of requests before the measurement creates the connections and everything else that is created once. Another round
/// after the measurement counts heap requests. The transfer of a file has no such rounds: it is one long request, and it measures
/// memory.
package enum LoadMeter {
    /// The reason why a run is invalid.
    package enum Failure: Error {
        case wrongContent(Int)
    }

    /// - Parameters:
    ///   - first: Fetches `firstURL` once, and returns the number of content bytes.
    ///   - run: Fetches the given number of times, and returns the number of content bytes.
    ///   - figures: Measures additional figures of the job at the end.
    package static func measure(
        _ job: LoadJob, first fetchFirst: @Sendable () async throws -> Int,
        figures: @Sendable () async throws -> [String: Double] = { [:] },
        run: @Sendable (_ requests: Int) async throws -> Int
    ) async throws {
        var first = 0
        heap_set_counting(false)
        let start = clock_wall()
        if job.isAboutMemory {
            first = try await fetchFirst()
        } else if !job.isTransfer {
            first = try await run(job.round) / job.round
        }
        let firstTook = clock_wall() - start
        if job.isAboutMemory { try await Task.sleep(for: .milliseconds(200)) }
        let heapBefore = heap_in_use()
        let residentBefore = status("VmRSS:")
        let watch = job.mode == .hold ? HeapWatch() : nil
        let (user, switches) = (clock_process_user(), process_switches())
        let cpu = clock_process_cpu()
        let wall = clock_wall()
        let bytes = try await run(job.requests)
        let cpuSpent = clock_process_cpu() - cpu
        let wallSpent = clock_wall() - wall
        let (userSpent, switched) = (clock_process_user() - user, process_switches() - switches)
        let peak = status("VmHWM:")
        // Every response has the length of the first.
        guard job.isTransfer ? bytes > 0 : bytes == first * job.requests else {
            throw Failure.wrongContent(bytes)
        }
        var members = [
            "\"requests\": \(job.requests)", "\"bytes\": \(bytes)", "\"wall\": \(wallSpent)",
            "\"cpu\": \(cpuSpent)", "\"user\": \(userSpent)", "\"switches\": \(switched)",
            "\"resident\": \(peak)",
        ]
        if job.isTransfer {
            members.append("\"grown\": \(peak - residentBefore)")
        } else if job.isAboutMemory {
            // Memory of the last requests is released a moment later.
            if job.mode == .idle { try await Task.sleep(for: .milliseconds(200)) }
            let heapPeak = watch?.stop() ?? heap_in_use()
            let count = Double(job.connections)
            members.append("\"heapPerConnection\": \((Double(heapPeak) - Double(heapBefore)) / count)")
            let resident = Double(status("VmRSS:") - residentBefore) * 1024 / count
            members.append("\"residentPerConnection\": \(resident)")
        } else {
            if job.connections == 1 { members.append("\"first\": \(firstTook)") }
            let counted = min(job.requests, 64 * job.connections)
            heap_set_counting(true)
            let heap = heap_of_process()
            _ = try await run(counted)
            let heapNow = heap_of_process()
            /// Scales a counted amount to all requests.
            func scaled(_ amount: UInt64) -> UInt64 { amount * UInt64(job.requests) / UInt64(counted) }
            members.append("\"allocations\": \(scaled(heapNow.requests - heap.requests))")
            members.append("\"allocatedBytes\": \(scaled(heapNow.bytes - heap.bytes))")
            heap_set_counting(false)
        }
        for (name, value) in try await figures().sorted(by: { $0.key < $1.key }) {
            members.append("\"\(name)\": \(value)")
        }
        print("{\(members.joined(separator: ", "))}")
    }

    /// The processor time of this program in nanoseconds.
    package static var processorTime: Double { Double(clock_process_cpu()) }

    /// Returns a value of this process's status in KiB.
    private static func status(_ name: String) -> Int {
        guard let status = unsafe fopen("/proc/self/status", "r") else { return 0 }
        defer { unsafe fclose(status) }
        var amount = 0
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, 256, status) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.hasPrefix(name) { amount = Int(text.filter { $0.isNumber }) ?? 0 }
        }
        return amount
    }
}
