// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Lupine
internal import LupineLoading
internal import LupineTLS
internal import LupineTestKit
internal import LupineTransport

/// All requests of one seed, 64 at a time, through a new session, which must be deallocated afterwards with everything it had.
package final class ChaosRound: Sendable {
    private struct Live {
        weak var request: Request?
    }

    private struct State {
        var next = 0
        var done: [ChaosRequest] = []
        var underWay: [Int: ChaosRequest] = [:]
        var live: [Live] = []
    }

    /// The number of concurrent requests.
    package static let width = 64

    package let seed: UInt64
    package let isSecure: Bool
    package let version: ChaosVersion
    private let requests: Int
    private let doors: ChaosDoors
    private let folder: URL
    private let state = Lock(State())

    /// Creates a round whose requests keep their files in `folder`.
    package init(
        seed: UInt64, requests: Int, secure isSecure: Bool, over version: ChaosVersion = .http1,
        doors: ChaosDoors, folder: String
    ) {
        self.seed = seed
        self.isSecure = isSecure
        self.version = version
        self.requests = requests
        self.doors = doors
        self.folder = URL(filePath: folder)
    }

    /// Sends all requests, and waits for their ends and for that of the session. Returns the tally and the violations. `before`
    /// is the inventory of a process that does nothing else; without it, timers, descriptors and threads are not checked.
    package func run(since before: ProcessInventory?) async throws -> (ChaosTally, violations: [String]) {
        var session: Session? = try makeSession()
        weak let ending = session
        let unbalanced = WindowBalance.shared.imbalances
        var repeated: [String] = []
        if let session {
            await withTaskGroup { group in
                for _ in 0..<Self.width {
                    group.addTask { await self.work(session) }
                }
            }
            repeated = await askForRepeated(session)
        }
        session = nil
        let left = try await settle(before) { ending == nil }
        var (tally, violations) = judge(left)
        violations += repeated.map { "a POST came again: \($0)" }
        if WindowBalance.shared.imbalances > unbalanced { violations.append("windows do not add up") }
        return (tally, violations)
    }

    /// Returns a description of the oldest request in progress, if it is older than `limit`.
    package func hanging(longerThan limit: Duration) -> String? {
        let oldest = state.withLock { $0.underWay.values.min { $0.begin < $1.begin } }
        guard let oldest, oldest.begin.duration(to: .now) > limit else { return nil }
        return "seed \(seed), request \(oldest.plan.number), \(oldest.plan.form), \(oldest.stage), "
            + "planned \(oldest.plan.misbehaviours), seen \(oldest.observation)"
    }

    // MARK: the work

    private func makeSession() throws -> Session {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = [64, 6, 20][Int(seed % 3)]
        configuration.lupine.tls.roots = .certificates(try Certificate.pem(PKI.text("root.pem")))
        if seed % 5 == 0 { configuration.lupine.ownEventLoops = 2 }
        configuration.lupine.httpVersions =
            switch version {
            case .http1: .http11
            case .http2: isSecure && version.offersBoth(seed: seed) ? [.http11, .http2] : .http2
            }
        let plan = ChaosPlan(seed: seed, number: 0, secure: isSecure, over: version)
        let policy = RetryPolicy(retryLimit: 2, exponentialBackoffBase: 2, exponentialBackoffScale: 0.002)
        return Session(
            configuration: configuration, startRequestsImmediately: false,
            interceptor: plan.retrying == .policy ? policy : nil)
    }

    /// Runs requests one after the other, as one of the 64 workers.
    private func work(_ session: Session) async {
        while let number = nextNumber() {
            let plan = ChaosPlan(seed: seed, number: number, secure: isSecure, over: version)
            await withCheckedContinuation { continuation in
                let request = ChaosRequest(plan, doors, folder: folder) { request in
                    self.state.withLock { $0.underWay[number] = nil }
                    continuation.resume()
                }
                state.withLock { state in
                    state.done.append(request)
                    state.underWay[number] = request
                }
                let live = Live(request: request.start(session))
                state.withLock { $0.live.append(live) }
            }
        }
    }

    /// Asks the origin for the POSTs that it received again after it had accepted them.
    private func askForRepeated(_ session: Session) async -> [String] {
        let door: ChaosDoor = version == .http2 ? .streams : .main
        guard let port = doors[door, secure: isSecure] else { return ["the origin has no such door"] }
        let url = "\(isSecure ? "https" : "http")://127.0.0.1:\(port)/repeated?s=\(seed)"
        let request = session.request(url).validate().resume()
        let names = await request.serializingString(emptyResponseCodes: [200]).result
        switch names {
        case .success(let names): return names.split(separator: "\n").map(String.init)
        case .failure(let error): return ["the origin does not say so: \(error)"]
        }
    }

    private func nextNumber() -> Int? {
        state.withLock { state in
            guard state.next < requests else { return nil }
            defer { state.next += 1 }
            return state.next
        }
    }

    // MARK: the end

    private var living: Int { state.withLock { state in state.live.count { $0.request != nil } } }

    /// Waits until nothing is left, at most 20 seconds; returns what is left then.
    private func settle(
        _ before: ProcessInventory?, isGone: () -> Bool
    ) async throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            var left: [String] = []
            if !isGone() { left.append("the session") }
            let living = living
            if living > 0 { left.append("\(living) requests live") }
            if before != nil { left += try await Self.timers() }
            let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            if !files.isEmpty { left.append("files: \(files.prefix(8))") }
            if left.isEmpty || ContinuousClock.now > deadline, let before {
                left += ProcessInventory.now().leftovers(since: before)
            }
            if left.isEmpty || ContinuousClock.now > deadline { return left }
            await Task.yield()
        }
    }

    /// Returns the alarms of loads, and the timers on the shared loops.
    private static func timers() async throws -> [String] {
        let alarms = LoadAlarms.shared.count
        if alarms > 0 { return ["\(alarms) alarms"] }
        var count = -LoadAlarms.shared.timerCount
        for loop in try EventLoopGroup.shared().loops {
            count += await withCheckedContinuation { continuation in
                let accepted = loop.execute { continuation.resume(returning: loop.timerCount) }
                if !accepted { continuation.resume(returning: 0) }
            }
        }
        return count > 0 ? ["\(count) timers"] : []
    }

    private func judge(_ left: [String]) -> (ChaosTally, violations: [String]) {
        var tally = ChaosTally()
        var violations = left.map { "left behind: \($0)" }
        // Each request holds the round in its closure, and the round holds the requests: this breaks the cycle.
        let done = state.withLock { state in
            defer { state.done = [] }
            return state.done
        }
        if done.count != requests { violations.append("\(done.count) of \(requests) requests were made") }
        for request in done {
            let seen = request.observation
            tally.add(request.plan, seen)
            violations += ChaosCheck.violations(request.plan, seen).map {
                "request \(request.plan.number), \(request.plan.form), planned "
                    + "\(request.plan.misbehaviours.map(\.rawValue)), \(request.plan.cancellation): \($0)"
            }
        }
        return (tally, violations)
    }
}
