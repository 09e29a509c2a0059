// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Glibc

/// Has a job done and prints what it cost, as one JSON object: the one that the peers' programs print, without `connects`,
/// which no session tells.
///
/// A round of requests before the clock starts makes the connections, and whatever is made once; another one behind it is
/// what heap requests are counted in. The transfer of a file has neither: it is one long request, and memory is what it is about.
package enum LoadMeter {
    /// Why a run is worth nothing.
    package enum Failure: Error {
        case wrongContent(Int)
    }

    /// - Parameters:
    ///   - first: Fetches `firstURL` once, and returns the bytes of content that came.
    ///   - run: Fetches so many times, and returns the bytes of content that came.
    ///   - figures: Measures what else the job is about, when all is over.
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
        let held = heap_in_use()
        let before = status("VmRSS:")
        let watch = job.mode == .hold ? HeapWatch() : nil
        let (user, switches) = (clock_process_user(), process_switches())
        let cpu = clock_process_cpu()
        let wall = clock_wall()
        let bytes = try await run(job.requests)
        let cpuSpent = clock_process_cpu() - cpu
        let wallSpent = clock_wall() - wall
        let (userSpent, switched) = (clock_process_user() - user, process_switches() - switches)
        let peak = status("VmHWM:")
        // Every response is as long as the first.
        guard job.isTransfer ? bytes > 0 : bytes == first * job.requests else {
            throw Failure.wrongContent(bytes)
        }
        var members = [
            "\"requests\": \(job.requests)", "\"bytes\": \(bytes)", "\"wall\": \(wallSpent)",
            "\"cpu\": \(cpuSpent)", "\"user\": \(userSpent)", "\"switches\": \(switched)",
            "\"resident\": \(peak)",
        ]
        if job.isTransfer {
            members.append("\"grown\": \(peak - before)")
        } else if job.isAboutMemory {
            // What the last requests have left lies about for a moment.
            if job.mode == .idle { try await Task.sleep(for: .milliseconds(200)) }
            let most = watch?.stop() ?? heap_in_use()
            let count = Double(job.connections)
            members.append("\"heapPerConnection\": \((Double(most) - Double(held)) / count)")
            let resident = Double(status("VmRSS:") - before) * 1024 / count
            members.append("\"residentPerConnection\": \(resident)")
        } else {
            if job.connections == 1 { members.append("\"first\": \(firstTook)") }
            let counted = min(job.requests, 64 * job.connections)
            heap_set_counting(true)
            let heap = heap_of_process()
            _ = try await run(counted)
            let heapNow = heap_of_process()
            /// What was counted, as if every request had been.
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

    /// Nanoseconds of processor time that this program has taken.
    package static var processorTime: Double { Double(clock_process_cpu()) }

    /// A line of this process' status, in KiB: what it has in memory, or had at most.
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
