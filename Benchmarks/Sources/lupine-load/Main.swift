// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Glibc
internal import LupineTransport

/// The library's side of the transport benchmarks: keep-alive GETs, so many at a time, in a process of its own, so that
/// its processor time and heap are those of the requests alone.
///
///     lupine-load pool|client LOOPS HOST PORT PATH CONNECTIONS REQUESTS
///
/// `pool` submits exchanges to the connection pool and hears callbacks, `client` awaits the public client. LOOPS is the
/// number of event loops, 0 for the process' default. Prints the JSON object that the peers' programs print, with the
/// heap requests beside; the connections are made by a round of requests before the clock starts.
@main
struct Main {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 8, let loops = Int(arguments[2]), let port = UInt16(arguments[4]),
            let connections = Int(arguments[6]), let requests = Int(arguments[7]), connections > 0,
            requests > 0
        else { return usage() }
        let job = Job(
            host: arguments[3], port: port, path: arguments[5], connections: connections,
            loops: loops)
        do {
            switch arguments[1] {
            case "pool": try await run(try PoolLoad(job), requests, warmUp: connections)
            case "client": try await run(try ClientLoad(job), requests, warmUp: connections)
            default: usage()
            }
        } catch {
            print("lupine-load: \(error)")
            exit(1)
        }
    }

    private static func run(_ load: some Load, _ requests: Int, warmUp: Int) async throws {
        let first = try await load.run(warmUp)
        let heap = heap_of_process()
        let cpu = clock_process_cpu()
        let wall = clock_wall()
        let bytes = try await load.run(requests)
        let cpuSpent = clock_process_cpu() - cpu
        let wallSpent = clock_wall() - wall
        let heapNow = heap_of_process()
        // Every response is as long as the first.
        guard bytes == first / warmUp * requests, bytes > 0 else { throw LoadFailure.wrongContent(bytes) }
        print(
            """
            {"requests": \(requests), "bytes": \(bytes), "connects": \(load.connectionsOpened), \
            "wall": \(wallSpent), "cpu": \(cpuSpent), \
            "allocations": \(heapNow.requests - heap.requests), "allocatedBytes": \(heapNow.bytes - heap.bytes), \
            "resident": \(resident())}
            """)
    }

    /// Peak resident KiB of this program, as the peers' programs read theirs.
    private static func resident() -> Int {
        guard let status = unsafe fopen("/proc/self/status", "r") else { return 0 }
        defer { unsafe fclose(status) }
        var amount = 0
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, 256, status) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            amount = Int(text.filter { $0.isNumber }) ?? 0
        }
        return amount
    }

    private static func usage() {
        print("lupine-load pool|client LOOPS HOST PORT PATH CONNECTIONS REQUESTS")
        exit(2)
    }
}

/// What is to be fetched, and how many at a time.
struct Job: Sendable {
    let host: String
    let port: UInt16
    let path: String
    let connections: Int
    /// 0 for the process' default.
    let loops: Int
}

/// One way to fetch.
protocol Load {
    /// Fetches so many times, and returns the bytes of content that came.
    func run(_ requests: Int) async throws -> Int
    var connectionsOpened: Int { get }
}

/// Why a load came to nothing.
enum LoadFailure: Error {
    case exchange(TransportError)
    case status(Int)
    case wrongContent(Int)
}
