// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineTransport

/// Runs one scenario in a process of its own, where descriptors, threads and signals belong to nobody else.
///
/// Tests start it with a scenario's name. It exits with 0 when the scenario holds; otherwise it says why
/// not, or dies of the signal that should not have been raised.
@main struct Probe {
    enum Scenario: String, CaseIterable {
        case send, sendmsg, sendfile, splice, signals, leaks, stack, exit, fetch
        case clientResets, clientExit, clientLeaks, clientDescriptors, clientMemory, clientIdle,
            clientHandshakes
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static func main() async throws {
        // Whatever the parent left: SIGPIPE kills, unless the library keeps it from being raised.
        _ = signal(SIGPIPE, SIG_DFL)
        let before = try signalState()
        guard let scenario = CommandLine.arguments.dropFirst().first.flatMap(Scenario.init) else {
            throw Failure("no such scenario; there are \(Scenario.allCases.map(\.rawValue))")
        }
        switch scenario {
        case .send, .sendmsg, .sendfile, .splice: try await writeToResetPeer(scenario)
        case .signals: try await threadsBlockSignals()
        case .leaks: try await shutdownLeavesNothing()
        case .stack: try await clientsLeaveNothing()
        case .exit: try await defaultGroupDoesNotDelayExit()
        case .clientResets: try await ClientScenarios.peersReset()
        case .clientExit: try await ClientScenarios.exitWithRequestsInFlight()
        case .clientLeaks: try await ClientScenarios.cancellationsLeaveNothing()
        case .clientDescriptors: try await ClientScenarios.descriptorsRunOut(port())
        case .clientMemory: try await ClientScenarios.memoryStaysFlat(port())
        case .clientIdle: try await ClientScenarios.idleConnectionsAreSmall(port())
        case .clientHandshakes: try await HandshakeScenario.run()
        case .fetch: await EnvironmentFetch.run(CommandLine.arguments.dropFirst(2))
        }
        guard try signalState() == before else {
            throw Failure("signal dispositions changed: \(before) to \(try signalState())")
        }
    }

    /// The parent's origin, where the scenario counts what is its own.
    static func port() throws -> UInt16 {
        guard let port = CommandLine.arguments.last.flatMap(UInt16.init) else {
            throw Failure("a port is missing")
        }
        return port
    }

    /// Which signals are ignored and which are handled, but for 32 and 33, which the C library takes for
    /// its threads.
    static func signalState() throws -> [UInt64] {
        try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("SigIgn") || $0.hasPrefix("SigCgt") }
            .compactMap { UInt64($0.split(separator: "\t")[1], radix: 16) }
            .map { $0 & ~0x1_8000_0000 }
    }

    static func entries(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    // MARK: SIGPIPE

    /// Connects to ourselves, has the peer reset, and writes on until the kernel says EPIPE: the moment of
    /// SIGPIPE.
    static func writeToResetPeer(_ scenario: Scenario) async throws {
        let path = NSTemporaryDirectory() + "/lupine-probe-\(getpid())"
        let loop = try EventLoop.start(name: "probe-loop")
        let error: Errno? = await withCheckedContinuation { continuation in
            let accepted = loop.execute {
                do throws(Errno) {
                    try writeOnLoop(scenario, path)
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
            precondition(accepted)
        }
        try? FileManager.default.removeItem(atPath: path)
        guard error == .brokenPipe else { throw Failure("expected EPIPE, got \(String(describing: error))") }
        await loop.shutdown()
    }

    static func writeOnLoop(_ scenario: Scenario, _ path: String) throws(Errno) {
        let any = SocketAddress.ipv4(.loopback, port: 0)
        let listener = try Socket.stream(for: any)
        try listener.bind(to: any)
        try listener.listen()
        guard let target = try listener.localAddress() else { return }
        let client = try Socket.stream(for: target)
        _ = try client.connect(to: target)
        guard let server = try listener.accept() else { return }
        try server.reset()
        // Takes the ECONNRESET away; from here on every write is one to a broken pipe.
        _ = try client.pendingError()
        let bytes = [UInt8](repeating: 1, count: 4096)
        let file = try Descriptor.writing(path: path)
        _ = try file.write(bytes.span)
        switch scenario {
        case .send:
            _ = try client.send(bytes.span)
        case .sendmsg:
            _ = try client.send(bytes.span, bytes.span)
        case .sendfile:
            var offset: Int64 = 0
            _ = try client.send(file: file, offset: &offset, count: 4096)
        case .splice:
            let pipe = try SplicePipe()
            _ = try pipe.write(bytes.span)
            _ = try pipe.drain(into: client.descriptor, count: 4096)
        case .signals, .leaks, .stack, .exit, .clientResets, .clientExit, .clientLeaks, .clientDescriptors,
            .clientMemory, .clientIdle, .clientHandshakes, .fetch:
            break
        }
    }

    // MARK: Threads

    /// Every thread of the library has all signals blocked that can be.
    static func threadsBlockSignals() async throws {
        let group = try EventLoopGroup(count: 2, name: "lupine-own")
        let pool = WorkerPool(limit: 1, hungAfter: .seconds(5))
        let release = Lock(false)
        let resolver = Resolver(pool: pool) { _, _ throws(ResolutionError) in
            while !release.withLock({ $0 }) { sched_yield() }
            throw .nameNotFound
        }
        let loop = group.loops[0]
        await withCheckedContinuation { continuation in
            let accepted = loop.execute {
                _ = resolver.lookUp("a", port: 1, on: loop) { _ in }
                continuation.resume()
            }
            precondition(accepted)
        }
        var seen: [String: UInt64] = [:]
        while seen.count < 3 {
            for task in try entries("/proc/self/task") where task != "\(getpid())" {
                guard
                    let status = try? String(
                        contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8)
                else { continue }
                let fields = status.split(separator: "\n").map { $0.split(separator: "\t") }
                guard let name = fields.first(where: { $0[0] == "Name:" })?.last,
                    name.hasPrefix("lupine-own") || name == "lupine-lookup",
                    let mask = fields.first(where: { $0[0] == "SigBlk:" })?.last
                else { continue }
                seen[String(name)] = UInt64(mask, radix: 16)
            }
        }
        release.withLock { $0 = true }
        await group.shutdown()
        guard Set(seen.keys) == ["lupine-own-0", "lupine-own-1", "lupine-lookup"] else {
            throw Failure("threads: \(seen.keys)")
        }
        for (name, mask) in seen {
            // All 64 but SIGKILL and SIGSTOP, which nobody can block, and the C library's own two.
            for number in 1...64 where ![9, 19, 32, 33].contains(number) {
                guard mask >> UInt64(number - 1) & 1 == 1 else {
                    throw Failure("\(name) does not block signal \(number)")
                }
            }
        }
    }

    /// Groups come and go, with channels, timers and work in hand; descriptors and threads are as before.
    static func shutdownLeavesNothing() async throws {
        var descriptors: [String] = []
        var threads: Set<String> = []
        // Held to the end: it is the shutdown that closes, not the release.
        var ended: [EventLoopGroup] = []
        for round in 0..<20 {
            let group = try EventLoopGroup(count: 3, name: "leak")
            for loop in group.loops {
                for _ in 0..<10 {
                    _ = loop.execute {
                        _ = try? RouteWatcher.open(on: loop) { _ in }
                        _ = loop.schedule(after: .seconds(3600)) { _ in }
                    }
                }
            }
            await group.shutdown()
            ended.append(group)
            // The first round opens what the runtime keeps.
            let now = (try openFiles(), Set(try entries("/proc/self/task").filter(isOurs)))
            if round == 0 { (descriptors, threads) = now }
            guard now.0 == descriptors, now.1 == threads, threads.isEmpty else {
                throw Failure("round \(round): \(now) after \(descriptors), \(threads)")
            }
        }
    }

    /// What each descriptor is open on. Timers and files of /proc are left out: the library opens none, libdispatch
    /// does under Swift's tasks, at moments of its own choosing. The one that lists them is closed when it is asked for.
    static func openFiles() throws -> [String] {
        try entries("/proc/self/fd").compactMap { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target.map { "\(number) \($0)" }
        }
        .filter { !$0.hasSuffix(" anon_inode:[timerfd]") && !$0.contains(" /proc/") }
        .sorted()
    }

    /// The same for whole clients and what they meet.
    static func clientsLeaveNothing() async throws {
        try await StackScenario.run(round: 0)
        let before = (try entries("/proc/self/fd").count, try clientThreads())
        for round in 1...4 {
            try await StackScenario.run(round: round)
            let now = (try entries("/proc/self/fd").count, try clientThreads())
            guard now == before, now.1 == 0 else { throw Failure("round \(round): \(now) after \(before)") }
        }
    }

    static func clientThreads() throws -> Int {
        try entries("/proc/self/task").filter { task in
            let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
            return name?.hasPrefix("lupine-client") ?? false || name?.hasPrefix("lupine-origin") ?? false
        }.count
    }

    static func isOurs(_ task: String) -> Bool {
        let name = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
        return name?.hasPrefix("leak") ?? false
    }

    /// Returns from main with busy default loops and a look-up that never ends.
    static func defaultGroupDoesNotDelayExit() async throws {
        let loop = try EventLoopGroup.shared().next()
        let resolver = Resolver { _, _ throws(ResolutionError) in
            while true { sched_yield() }
        }
        await withCheckedContinuation { continuation in
            let accepted = loop.execute {
                _ = resolver.lookUp("a", port: 1, on: loop) { _ in }
                _ = loop.schedule(after: .seconds(3600)) { _ in }
                continuation.resume()
            }
            precondition(accepted)
        }
    }
}
