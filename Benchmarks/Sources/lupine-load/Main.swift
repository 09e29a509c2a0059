// SPDX-License-Identifier: MIT
internal import CBenchmarkCounters
internal import Glibc
internal import LoadProgram
internal import LupineTLS
internal import LupineTransport

/// The library's program for the transport benchmarks: concurrent GETs in a separate process, so that its processor time and heap
/// are those of the requests only.
///
///     lupine-load [--http2] pool|client|executor LOOPS [MODE [VERSION CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS
///
/// With `--http2` it uses one HTTP/2 connection, without TLS by prior knowledge, and CONNECTIONS is the number of streams. `pool`
/// submits exchanges to the connection pool with callbacks, `client` awaits the public client, `executor` does so in tasks that
/// run on its event loops. LOOPS is the number of event loops, 0 for the process's default. MODE is the use of the connections,
/// `get` by default: see `Job.Mode`. VERSION, 1.2 or 1.3, is that of TLS, and CAFILE has the only roots; chain and host are
/// verified. Without them TLS is not used. It prints the JSON object that the peers' programs print, with the heap requests
/// added. A round of requests before the measurement creates the connections and everything that is created once; another round
/// after it counts heap requests.
@main
struct Main {
    static func main() async {
        guard let (api, job) = read(CommandLine.arguments) else { return usage() }
        do {
            switch api {
            case .pool: try await run(try PoolLoad(job), job)
            case .client: try await run(try ClientLoad(job), job)
            case .executor: try await run(try ClientLoad(job, onLoops: true), job)
            }
        } catch {
            print("lupine-load: \(error)")
            exit(1)
        }
    }

    private enum API: String { case pool, client, executor }

    private static func read(_ arguments: [String]) -> (API, Job)? {
        var arguments = arguments
        let sharesConnection = arguments.count > 1 && arguments[1] == "--http2"
        if sharesConnection { arguments.remove(at: 1) }
        guard [8, 9, 11].contains(arguments.count),
            let api = API(rawValue: arguments[1]), let loops = Int(arguments[2]),
            let mode = arguments.count == 8 ? .get : Job.Mode(rawValue: arguments[3]),
            !sharesConnection || mode == .get || mode == .hold
        else { return nil }
        var tls: TLSConfiguration?
        if arguments.count == 11 {
            tls = Job.tls(mode, version: arguments[4], authorities: arguments[5], http2: sharesConnection)
            if tls == nil { return nil }
        } else if mode == .resumed {
            return nil
        }
        let target = arguments.suffix(5).map(\.self)
        guard let port = UInt16(target[1]), let connections = Int(target[3]), let requests = Int(target[4]),
            connections > 0, requests > 0
        else { return nil }
        return (
            api,
            Job(
                mode: mode, tls: tls, hosts: LoadJob.hosts(target[0]), port: port, path: target[2],
                connections: connections,
                requests: mode == .idle || mode == .hold ? connections : requests,
                sharesConnection: sharesConnection, loops: loops)
        )
    }

    private static func run(_ load: some Load, _ job: Job) async throws {
        let warmUp = job.isAboutMemory ? 1 : max(job.connections, job.hosts.count)
        let requests = job.requests
        // The peers' programs do not count heap requests during the measurement, so this program does so in another round. That
        // is impossible for connections that stay open.
        heap_set_counting(job.isAboutMemory)
        let start = clock_wall()
        let first = try await job.isAboutMemory ? load.runFirst() : load.run(warmUp)
        let firstTook = clock_wall() - start
        let opened = load.connectionsOpened
        let resumed = load.connectionsResumed
        let heapBefore = heap_in_use()
        let residentBefore = status("VmRSS:")
        var heap = heap_of_process()
        let watch = job.mode == .hold ? HeapWatch() : nil
        let cpu = clock_process_cpu()
        let wall = clock_wall()
        let bytes = try await load.run(requests)
        let cpuSpent = clock_process_cpu() - cpu
        let wallSpent = clock_wall() - wall
        // Memory of the last requests is released a moment later.
        if job.mode == .idle { try await Task.sleep(for: .milliseconds(200)) }
        let heapPeak = watch?.stop() ?? heap_in_use()
        // Every response has the length of the first.
        guard bytes == first / warmUp * requests else { throw LoadFailure.wrongContent(bytes) }
        let connects = load.connectionsOpened - opened
        try job.check(connects: connects)
        var additionalMembers = ""
        if job.tls != nil { additionalMembers = ", \"resumed\": \(load.connectionsResumed - resumed)" }
        var counted = requests
        if job.isAboutMemory {
            let count = Double(job.sharesConnection ? requests : max(connects, 1))
            let resident = Double(status("VmRSS:") - residentBefore) * 1024 / count
            additionalMembers += ", \"heapPerConnection\": \((Double(heapPeak) - Double(heapBefore)) / count)"
            additionalMembers += ", \"residentPerConnection\": \(resident)"
        } else {
            if job.connections == 1 { additionalMembers += ", \"first\": \(firstTook)" }
            counted = min(requests, 64 * job.connections)
            heap_set_counting(true)
            heap = heap_of_process()
            _ = try await load.run(counted)
        }
        let heapNow = heap_of_process()
        /// Scales a counted amount to all requests.
        func scaled(_ amount: UInt64) -> UInt64 { amount * UInt64(requests) / UInt64(counted) }
        print(
            """
            {"requests": \(requests), "bytes": \(bytes), "connects": \(connects), \
            "wall": \(wallSpent), "cpu": \(cpuSpent), \
            "allocations": \(scaled(heapNow.requests - heap.requests)), \
            "allocatedBytes": \(scaled(heapNow.bytes - heap.bytes)), \
            "resident": \(status("VmHWM:"))\(additionalMembers)}
            """)
    }

    /// Returns a value of this program's status in KiB, as the peers' programs do.
    private static func status(_ name: String) -> Int {
        guard let status = unsafe fopen("/proc/self/status", "r") else { return 0 }
        defer { unsafe fclose(status) }
        var amount = 0
        var line = [CChar](repeating: 0, count: 256)
        while unsafe fgets(&line, 256, status) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            amount = Int(text.filter { $0.isNumber }) ?? 0
        }
        return amount
    }

    private static func usage() {
        print(
            "lupine-load [--http2] pool|client|executor LOOPS [full|resumed|get|idle|hold [1.2|1.3 CAFILE]] HOST[xHOSTS] PORT PATH CONNECTIONS REQUESTS"
        )
        exit(2)
    }
}

/// Fetches through one of the library's APIs.
protocol Load {
    /// Fetches the given number of times, and returns the number of content bytes.
    func run(_ requests: Int) async throws -> Int
    /// Makes one request with the job's first path.
    func runFirst() async throws -> Int
    var connectionsOpened: Int { get }
    /// The number of connections that resumed a TLS session.
    var connectionsResumed: Int { get }
}

/// The reason why a load has failed.
enum LoadFailure: Error {
    case exchange(TransportError)
    case status(Int)
    case wrongContent(Int)
    /// The number of connections was not the one that the mode requires.
    case wrongConnects(Int)
}
