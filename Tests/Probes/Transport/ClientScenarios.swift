// SPDX-License-Identifier: MIT

import CLupineHeap
import Foundation
import Glibc
import LupineHTTP
import LupineOrigin
import LupineTestKit
import LupineTransport

/// The effects of a whole client on its process: signals, descriptors, threads, memory, the exit.
enum ClientScenarios {
    static func client(connections: Int = 8, _ change: (inout HTTPClient.Configuration) -> Void = { _ in })
        -> HTTPClient
    {
        var configuration = HTTPClient.Configuration()
        configuration.connectionsPerHost = connections
        configuration.totalConnections = connections * 2
        configuration.ownLoops = 3
        change(&configuration)
        return HTTPClient(configuration: configuration)
    }

    // MARK: SIGPIPE

    /// Lets the peer reset during each kind of request body, and during a response that is spliced to a file.
    static func peersReset() async throws {
        let origin = try LupineOrigin.Origin.start()
        origin.script(
            "POST", "/reset", ScriptPlan(.expectBytes(20_000), .reset))
        origin.script("POST", "/reset-at-once", ScriptPlan(.reset))
        origin.script(
            "GET", "/spliced",
            ScriptPlan(
                .send("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n"),
                .send([UInt8](repeating: 1, count: 300_000)), .reset))
        let path = NSTemporaryDirectory() + "/lupine-probe-\(getpid())"
        try Data(repeating: 1, count: 12 << 20).write(to: URL(fileURLWithPath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let large = [UInt8](repeating: 1, count: 12 << 20)
        let bodies: [(String, HTTPRequest.Body)] = [
            ("bytes", .bytes(large)), ("file", .file(path: path)),
            ("chunks", .stream(length: nil) { [UInt8](repeating: 2, count: 200_000) }),
            ("stream", .stream(length: 1 << 40) { [UInt8](repeating: 2, count: 200_000) }),
        ]
        let client = client()
        for _ in 0..<10 {
            for (name, body) in bodies {
                for target in ["/reset", "/reset-at-once"] {
                    do {
                        let response = try await client.send(
                            try HTTPRequest(method: .post, url: origin.url + target, body: body))
                        throw Probe.Failure("\(name) was answered with \(response.status)")
                    } catch let error as TransportError {
                        switch error {
                        // The data that is left to read after the failed write decides which of the two errors it is.
                        case .connectionLost, .http(_, _, .truncated): break
                        default: throw error
                        }
                    }
                }
            }
            try await splice(from: origin, into: path + "-target")
        }
        await client.shutdown()
        await origin.shutdown()
    }

    private static func splice(from server: LupineOrigin.Origin, into path: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let group = try EventLoopGroup(count: 1)
        let pool = ConnectionPool(
            configuration: ConnectionPool.Configuration(), group: group, resolver: Resolver())
        let target = FileTarget(try Descriptor.writing(path: path))
        let result = await withCheckedContinuation { done in
            var fields = Fields()
            try? fields.append(.host, "a")
            pool.submit(
                Exchange(
                    head: RequestHead(method: .get, target: .origin("/spliced"), fields: fields),
                    origin: Origin(scheme: .http, host: "127.0.0.1", port: server.port),
                    sink: SplicingSink(target) { done.resume(returning: $0) }))
        }
        await withCheckedContinuation { done in pool.shutDown { done.resume() } }
        await group.shutdown()
        guard case .failure(.connectionLost(_, _, .connectionReset)) = result else {
            throw Probe.Failure("spliced: \(result)")
        }
    }

    private final class SplicingSink: ExchangeSink {
        private let target: FileTarget
        private let ended: @Sendable (Result<Fields, TransportError>) -> Void

        init(_ target: FileTarget, _ ended: @escaping @Sendable (Result<Fields, TransportError>) -> Void) {
            self.target = target
            self.ended = ended
        }

        func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
            .splice(into: target)
        }
        func receivedContent(_ bytes: Span<UInt8>) -> Demand { .more }
        func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
            ended(result)
        }
    }

    // MARK: The exit

    /// Returns from `main` with requests in every state, on the client's own loops and on the shared ones.
    static func exitWithRequestsInFlight() async throws {
        let origin = try LupineOrigin.Origin.start()
        let seen = origin.gate("seen")
        for own in [1, nil] {
            let client = client { $0.ownLoops = own }
            for index in 0..<40 {
                Task {
                    let body: HTTPRequest.Body =
                        index % 4 == 3 ? .stream(length: nil) { [UInt8](repeating: 0, count: 9_000) } : .none
                    let target = ["/infinite", "/delay/60", "/bytes/100", "/hash"][index % 4]
                    let response = try await client.send(
                        try HTTPRequest(
                            method: index % 4 == 3 ? .post : .get, url: origin.url + target, body: body))
                    for try await _ in response.body { seen.open() }
                }
            }
        }
        await seen.wait()
    }

    // MARK: What is left

    /// Cancels requests at random moments through their tasks, in rounds; descriptors and threads must be as before.
    static func cancellationsLeaveNothing() async throws {
        var before: (descriptors: Int, threads: Int)?
        for round in 0..<6 {
            try await cancelledRequests(seed: UInt64(round))
            // The threads of Swift's runtime come and go; the library's have names.
            let after = (
                try Probe.entries("/proc/self/fd").count,
                try Probe.entries("/proc/self/task").count(where: isOurs)
            )
            guard let known = before else {
                before = after
                continue
            }
            guard known == after else { throw Probe.Failure("round \(round): \(known) became \(after)") }
        }
    }

    private static func isOurs(_ task: String) -> Bool {
        let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
        return name?.hasPrefix("lupine") ?? false
    }

    private static func cancelledRequests(seed: UInt64) async throws {
        let origin = try LupineOrigin.Origin.start()
        let client = client()
        var random = SeededRandom(seed: seed)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<400 {
                let turns = Int.random(in: 0..<60, using: &random)
                group.addTask {
                    let task = Task {
                        let targets = ["/infinite", "/bytes/500000", "/delay/60", "/drip?duration=60"]
                        let response = try await client.get(origin.url + targets[index % 4])
                        for try await _ in response.body {}
                    }
                    for _ in 0..<turns { await Task.yield() }
                    task.cancel()
                    _ = await task.result
                }
            }
        }
        await client.shutdown()
        await origin.shutdown()
    }

    // MARK: EMFILE

    /// Without descriptors idle connections are closed for new ones; without idle connections the error reports it; afterwards
    /// requests succeed again.
    static func descriptorsRunOut(_ port: UInt16) async throws {
        let names = ["other.test", "third.test"]
        let client = client(connections: 8) { configuration in
            for name in names {
                configuration.overrides[.init(host: name, port: port)] = [.ipv4(.loopback, port: port)]
            }
        }
        let bare = Self.client()
        // Makes eight concurrent requests, each held until the others have arrived, so that eight connections are idle
        // afterwards.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await fetch(client, "http://127.0.0.1:\(port)/meet") } }
            try await group.waitForAll()
        }
        var fillers = try useUpDescriptors()
        try await fetch(client, "http://other.test:\(port)/bytes/10")
        fillers += try useUpDescriptors()
        do {
            try await fetch(bare, "http://127.0.0.1:\(port)/bytes/10")
            throw Probe.Failure("a request went out without a descriptor")
        } catch let error as TransportError {
            guard case .outOfDescriptors(.tooManyDescriptors) = error else { throw error }
        }
        // Idle connections still serve requests, and may be closed for another host.
        try await fetch(client, "http://other.test:\(port)/bytes/10")
        try await fetch(client, "http://third.test:\(port)/bytes/10")
        for filler in fillers { close(filler) }
        try await fetch(bare, "http://127.0.0.1:\(port)/bytes/10")
        for name in names { try await fetch(client, "http://\(name):\(port)/bytes/10") }
        await client.shutdown()
        await bare.shutdown()
    }

    private static func fetch(_ client: HTTPClient, _ url: String) async throws {
        let response = try await client.get(url)
        _ = try await response.body.collect()
    }

    /// Lowers the limit, and takes all descriptors below it.
    private static func useUpDescriptors() throws -> [Int32] {
        let highest = try Probe.entries("/proc/self/fd").compactMap { Int($0) }.max() ?? 0
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { throw Probe.Failure("getrlimit") }
        limit.rlim_cur = min(limit.rlim_cur, rlim_t(highest + 1))
        guard unsafe setrlimit(resource, &limit) == 0 else { throw Probe.Failure("setrlimit") }
        var fillers: [Int32] = []
        while true {
            let filler = dup(0)
            guard filler >= 0 else { return fillers }
            fillers.append(filler)
        }
    }

    // MARK: Memory

    private static var heapInUse: Int { Int(mallinfo2().uordblks) }

    /// Returns the resident memory of this process.
    static func residentBytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(fields[1]) ?? 0) * 4096
    }

    /// Makes many requests with one client: after the first tenth the heap must not grow.
    static func memoryStaysFlat(_ port: UInt16) async throws {
        #if LUPINE_TSAN
            let total = 2_000
        #elseif DEBUG
            let total = 20_000
        #else
            let total = 200_000
        #endif
        // Each loop allocates its read buffer on demand, and a second one for nested reads: on a loaded machine that may be after
        // the first measurement. A leak grows with the requests and soon exceeds this.
        let lateBuffers = 4 * 2 * EventLoop.readBufferSize
        let client = client(connections: 32)
        let url = "http://127.0.0.1:\(port)/bytes/1024?seed=1"
        try await fetchMany(total / 10, client, url)
        let (heap, resident) = (heapInUse, try residentBytes())
        try await fetchMany(total - total / 10, client, url)
        let (laterHeap, laterResident) = (heapInUse, try residentBytes())
        print(
            "heap \(heap) -> \(laterHeap), resident \(resident) -> \(laterResident) after \(total) requests")
        await client.shutdown()
        guard laterHeap - heap < lateBuffers else {
            throw Probe.Failure("the heap grew from \(heap) to \(laterHeap)")
        }
    }

    private static func fetchMany(_ count: Int, _ client: HTTPClient, _ url: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask { for _ in 0..<count / 64 { try await fetch(client, url) } }
            }
            try await group.waitForAll()
        }
    }

    /// Measures the heap bytes of an idle connection, for the whole library.
    static func idleConnectionsAreSmall(_ port: UInt16) async throws {
        let count = 1_000
        let client = client(connections: count)
        try await fetch(client, "http://127.0.0.1:\(port)/bytes/10")
        let before = heapInUse
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { try await fetch(client, "http://127.0.0.1:\(port)/meet") }
            }
            try await group.waitForAll()
        }
        let each = (heapInUse - before) / count
        let opened = client.connectionsOpened
        print("\(each) bytes of heap for each of \(opened) idle connections")
        await client.shutdown()
        guard opened == count else { throw Probe.Failure("\(opened) connections") }
        guard each < 2_560 else { throw Probe.Failure("\(each) bytes for an idle connection") }
    }
}
