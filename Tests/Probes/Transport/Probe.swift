// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineTransport

/// Runs one scenario in a separate process, which has its descriptors, threads and signals for itself.
///
/// Tests start it with a scenario's name. It exits with 0 if the expectations of the scenario are met; otherwise it prints why
/// not, or is killed by the signal that should not have been raised.
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
        // Restores the default action, whatever the parent set: SIGPIPE kills the process, unless the library avoids raising it.
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

    /// Returns the port of the parent's origin, for scenarios that count their own descriptors.
    static func port() throws -> UInt16 {
        guard let port = CommandLine.arguments.last.flatMap(UInt16.init) else {
            throw Failure("a port is missing")
        }
        return port
    }

    /// Returns the sets of ignored and of handled signals, without 32 and 33, which the C library uses for its threads.
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

    /// Connects to a listener of this process, lets the peer reset, and writes until the kernel returns EPIPE, which is when
    /// SIGPIPE is raised.
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
        // Consumes the ECONNRESET; from now on every write fails with EPIPE.
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

    /// Checks that every thread of the library blocks all signals that can be blocked.
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
            // All 64 except SIGKILL and SIGSTOP, which cannot be blocked, and the two of the C library.
            for number in 1...64 where ![9, 19, 32, 33].contains(number) {
                guard mask >> UInt64(number - 1) & 1 == 1 else {
                    throw Failure("\(name) does not block signal \(number)")
                }
            }
        }
    }

    /// Creates and ends groups with channels, timers and pending work; descriptors and threads must be as before.
    static func shutdownLeavesNothing() async throws {
        var descriptors: [String] = []
        var threads: Set<String> = []
        // Held to the end, so that the shutdown closes descriptors, not the release.
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
            // The first round opens descriptors that the runtime keeps.
            let now = (try openFiles(), Set(try entries("/proc/self/task").filter(isOurs)))
            if round == 0 { (descriptors, threads) = now }
            guard now.0 == descriptors, now.1 == threads, threads.isEmpty else {
                throw Failure("round \(round): \(now) after \(descriptors), \(threads)")
            }
        }
    }

    /// Returns the targets of the descriptors, without timers and files in /proc: the library opens none, but libdispatch does
    /// under Swift's tasks, at any time. The descriptor of the listing itself is closed by then.
    static func openFiles() throws -> [String] {
        try entries("/proc/self/fd").compactMap { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target.map { "\(number) \($0)" }
        }
        .filter { !$0.hasSuffix(" anon_inode:[timerfd]") && !$0.contains(" /proc/") }
        .sorted()
    }

    /// Does the same with whole clients and misbehaving peers.
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

    /// Returns from `main` with busy default loops and a look-up that never ends.
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
