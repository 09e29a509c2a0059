// SPDX-License-Identifier: MIT

import CLupineHeap
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport

/// Thousands of handshakes, of all kinds and with all results: the heap does not grow after the first half, and when client and
/// origin are gone, no OpenSSL object, descriptor or thread is left.
enum HandshakeScenario {
    /// Both peers of the handshakes.
    private final class Stack: Sendable {
        static let names = "ecdsa.test"

        let origin: LupineOrigin.Origin
        let asking: LupineOrigin.Origin
        let cutting: LupineOrigin.Origin
        /// The clients by version, 1.2 first.
        let full: [HTTPClient]
        let resuming: [HTTPClient]
        let known: [HTTPClient]
        let pins: TrustEvaluator
        let cancelling: TrustEvaluator
        let victims = Victims()

        init(handshakes: Int) throws {
            let answer = ScriptPlan(
                .expectHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"),
                .close)
            origin = try Self.start(answer)
            asking = try Self.start(answer) {
                $0.clientCertificates = .required(roots: try Self.clientRoots())
            }
            cutting = try Self.start(
                ScriptPlan(
                    (0..<1 + handshakes / Kind.allCases.count).map { index in
                        let cut = WireCut(after: index * 37 % 1_600, index % 2 == 0 ? .end : .reset)
                        return Script([.startTLS(cutting: cut), .expectEnd], on: .socket)
                    }))
            let identity = try Self.identity("client-ecdsa")
            let ports = [origin.port, asking.port, cutting.port]
            full = Self.clients(ports) { $0.tls.resumesSessions = false }
            resuming = Self.clients(ports) { _ in }
            known = Self.clients(ports) { $0.tls.identity = identity }
            pins = .pinnedCertificates(try Certificate.pem(PKI.bytes("good.pem")))
            cancelling = .custom { [victims] _, reply in
                if victims.cancelOne() { reply(.success(())) } else { Task { reply(.success(())) } }
            }
        }

        private static func identity(_ name: String) throws -> TLSIdentity {
            try TLSIdentity(pemChain: PKI.bytes("\(name)-chain.pem"), pemKey: PKI.bytes("\(name).key"))
        }

        private static func clientRoots() throws -> [Certificate] {
            try Certificate.pem(PKI.bytes("client-root.pem"))
        }

        private static func start(
            _ plan: ScriptPlan, _ change: (inout TLSServerConfiguration) throws -> Void = { _ in }
        ) throws -> LupineOrigin.Origin {
            var tls = TLSServerConfiguration(
                identities: [TLSServerIdentity(try identity("ecdsa"), serverNames: [names])])
            try change(&tls)
            var serving = OriginConfiguration()
            serving.tls = tls
            serving.script = plan
            return try LupineOrigin.Origin.start(configuration: serving)
        }

        private static func clients(
            _ ports: [UInt16], _ change: (inout HTTPClient.Configuration) -> Void
        ) -> [HTTPClient] {
            [TLSVersion.v1_2, .v1_3].map { version in
                var settings = HTTPClient.Configuration()
                settings.ownLoops = 1
                settings.connectionsPerHost = 32
                settings.tls.maximumVersion = version
                settings.tls.roots = TrustRoots(includesSystem: false, files: [PKI.path("root.pem")])
                for port in ports {
                    settings.overrides[.init(host: "*", port: port)] = [.ipv4(.loopback, port: port)]
                }
                change(&settings)
                return HTTPClient(configuration: settings)
            }
        }

        var origins: [LupineOrigin.Origin] { [origin, asking, cutting] }

        func shutdown() async {
            for client in full + resuming + known { await client.shutdown() }
            for origin in origins { await origin.shutdown() }
        }
    }

    /// Requests to be cancelled when another request's chain is evaluated.
    private final class Victims: Sendable {
        private let tasks = Lock<[Task<Void, any Error>]>([])

        func add(_ task: Task<Void, any Error>) { tasks.withLock { $0.append(task) } }

        /// Cancels one task; returns whether there was one.
        func cancelOne() -> Bool {
            let task = tasks.withLock { $0.popLast() }
            task?.cancel()
            return task != nil
        }

        func removeAll() { tasks.withLock { $0 = [] } }
    }

    private enum Kind: CaseIterable {
        case full, resumed, resumedAgain, identified, pinned, cancelled, cut
    }

    #if LUPINE_TSAN
        private static let total = 1_400
    #else
        private static let total = 22_400
    #endif
    /// The permitted growth of the heap in the second half, in which the origins record ever more handshakes: 32 bytes for each,
    /// which is less than the smallest object that one could leak, with room for late read buffers.
    private static let allowedGrowth = total / 2 * 32

    /// The permitted growth of resident memory: the C library's arenas keep memory that threads have freed.
    private static let allowedResidence = 4 << 20

    private static var heapInUse: Int { Int(mallinfo2().uordblks) }

    static func run() async throws {
        try LiveObjects.watch()
        // The first stack creates the objects that the libraries keep.
        try await measure(handshakes: 140)
        var before = LiveObjects.counts
        before[.connection] = 0
        let files = try Probe.openFiles().count
        try await measure(handshakes: total)
        // A worker or a task may hold an object until its last step.
        let end = ContinuousClock.now + .seconds(300)
        while LiveObjects.counts != before, ContinuousClock.now < end { await Task.yield() }
        let after = LiveObjects.counts
        print("objects \(before) -> \(after)")
        guard try Probe.openFiles().count == files, try Probe.clientThreads() == 0 else {
            throw Probe.Failure("files or threads are left: \(try Probe.openFiles())")
        }
        guard after == before else { throw Probe.Failure("objects are left: \(before) became \(after)") }
    }

    /// Runs a stack from start to end, and checks its growth before the end.
    private static func measure(handshakes count: Int) async throws {
        let stack = try Stack(handshakes: count)
        try await performHandshakes(stack, 0..<count / 2)
        let (heap, objects, resident) = (heapInUse, LiveObjects.counts, try ClientScenarios.residentBytes())
        try await performHandshakes(stack, count / 2..<count)
        let (laterHeap, laterObjects) = (heapInUse, LiveObjects.counts)
        let laterResident = try ClientScenarios.residentBytes()
        let counts = stack.origins.map(\.counts)
        let (completed, resumed, failed) = (
            counts.reduce(0) { $0 + $1.handshakesCompleted }, counts.reduce(0) { $0 + $1.handshakesResumed },
            counts.reduce(0) { $0 + $1.handshakesFailed }
        )
        await stack.shutdown()
        print(
            "\(completed) handshakes completed, \(resumed) of them resumed, \(failed) failed: heap \(heap) -> \(laterHeap),",
            "resident \(resident) -> \(laterResident),",
            "objects \(objects) -> \(laterObjects)")
        guard count == total else { return }
        // Each request makes a handshake, except those cancelled too early.
        guard completed + failed > count - count / 10, resumed > count / 4, failed > count / 5 else {
            throw Probe.Failure("too few of a kind")
        }
        guard laterHeap - heap < allowedGrowth else {
            throw Probe.Failure("the heap grew from \(heap) to \(laterHeap)")
        }
        // A sanitizer's allocator reports no statistics and keeps freed memory.
        guard laterHeap == 0 || laterResident - resident < allowedResidence else {
            throw Probe.Failure("resident memory grew from \(resident) to \(laterResident)")
        }
        // Caches hold a few sessions for each client and origin, and connections that were dialled for cancelled requests are
        // idle.
        for kind in [LiveObjects.Kind.connection, .session, .context, .store, .channel] {
            let growth = (laterObjects[kind] ?? 0) - (objects[kind] ?? 0)
            guard growth <= 64 else { throw Probe.Failure("\(growth) objects more: \(kind)") }
        }
    }

    /// Makes the handshakes of a range, and returns when all have ended.
    private static func performHandshakes(_ stack: Stack, _ range: Range<Int>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let width = 16
            for lane in 0..<width {
                group.addTask {
                    for index in range where index % width == lane { try await one(stack, index) }
                }
            }
            try await group.waitForAll()
        }
        stack.victims.removeAll()
    }

    private static func one(_ stack: Stack, _ index: Int) async throws {
        // Each lane's indexes advance by 16, and the kinds repeat after 7, which have no common factor: each lane makes every
        // kind.
        let kind = Kind.allCases[index % Kind.allCases.count]
        let version = index / Kind.allCases.count % 2
        switch kind {
        case .full: try await fetch(stack.full[version], stack.origin)
        case .resumed, .resumedAgain: try await fetch(stack.resuming[version], stack.origin)
        case .identified: try await fetch(stack.known[version], stack.asking)
        case .pinned:
            do {
                try await fetch(stack.resuming[version], stack.origin, trust: stack.pins)
                throw Probe.Failure("a pin that does not fit was taken")
            } catch TransportError.tls(_, _, .untrusted(.certificateNotPinned)) {}
        case .cancelled:
            let task = Task {
                try await fetch(stack.resuming[version], stack.origin, trust: stack.cancelling)
            }
            stack.victims.add(task)
            do { try await task.value } catch TransportError.cancelled {}
        case .cut:
            do {
                try await fetch(stack.resuming[version], stack.cutting)
                throw Probe.Failure("half a handshake was one")
            } catch TransportError.tls(_, _, .closedInHandshake) {
            } catch TransportError.tls(_, _, .truncated) {
            } catch TransportError.http(_, _, .truncated) {
            } catch TransportError.connectionLost {}
        }
    }

    private static func fetch(
        _ client: HTTPClient, _ origin: LupineOrigin.Origin, trust: TrustEvaluator? = nil
    ) async throws {
        let request = try HTTPRequest(url: "https://\(Stack.names):\(origin.port)/", trust: trust)
        let body = try await client.send(request).body.text()
        guard body == "ok" else { throw Probe.Failure("answered with \(body)") }
    }
}
