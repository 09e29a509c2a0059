// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit

/// Starts and ends origins in a separate process and counts the descriptors and threads that they leave; nothing else uses any
/// here. Exits with 0 when nothing is left.
@main struct Probe {
    static func main() async throws {
        try await round(blocking: false)
        try await secureRound(blocking: false)
        let before = try entries("/proc/self/fd").count
        for index in 0..<20 {
            try await round(blocking: index % 2 == 0)
            try await secureRound(blocking: index % 2 == 0)
        }
        let after = try entries("/proc/self/fd").count
        // A joined thread is listed until the kernel has removed it.
        let end = ContinuousClock.now + .seconds(300)
        while try !ownThreads().isEmpty, ContinuousClock.now < end { await Task.yield() }
        let threads = try ownThreads()
        print("descriptors \(before) -> \(after), threads left: \(threads)")
        exit(before == after && threads.isEmpty ? 0 : 1)
    }

    /// Ends an origin that has connections in every state.
    private static func round(blocking: Bool) async throws {
        let origin = try Origin.start()
        origin.script("GET", "/stall", ScriptPlan(.signal("stalled"), .stall))
        let clients = try (0..<30).map { _ in try RawClient(port: origin.port) }
        let targets = ["/get", "/delay/60", "/infinite", "/drip?duration=60", "/stall", "/hash"]
        for (index, client) in clients.enumerated() {
            try client.send("GET \(targets[index % targets.count]) HTTP/1.1\r\nHost: a\r\n\r\n")
        }
        _ = try clients[0].receiveResponse()
        await origin.gate("stalled").wait()
        guard try !ownThreads().isEmpty else {
            print("the threads of a running origin were not found")
            exit(2)
        }
        if blocking { shutDown(origin) } else { await origin.shutdown() }
    }

    /// Does the same over TLS: before, during and after the handshake, and after a failed one.
    private static func secureRound(blocking: Bool) async throws {
        let identity = try TLSIdentity(
            pemChain: PKI.bytes("good-chain.pem"), pemKey: PKI.bytes("good.key"))
        var configuration = OriginConfiguration()
        configuration.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        let origin = try Origin.start(configuration: configuration)
        origin.script("GET", "/stall", ScriptPlan(.signal("stalled"), .stall))
        let context = try TLSClientContext(TLSConfiguration(roots: TrustRoots(includesSystem: false)))
        let silent = try RawClient(port: origin.port)
        let begun = try RawClient(port: origin.port)
        try begun.send([22, 3, 1, 2, 0, 1, 0])
        let noise = try RawClient(port: origin.port)
        try noise.send("no TLS at all")
        let targets = ["/get", "/delay/60", "/infinite", "/drip?duration=60", "/stall", "/hash"]
        let clients = try targets.map { target in
            let client = try RawClient(port: origin.port)
            try client.startTLS(context, host: "good.test")
            try client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
            return client
        }
        let refusing = try RawClient(port: origin.port)
        try? refusing.startTLS(context, host: "good.test") { _ in .failure(.refused("no")) }
        _ = try clients[0].receiveResponse()
        await origin.gate("stalled").wait()
        if blocking { shutDown(origin) } else { await origin.shutdown() }
        withExtendedLifetime((silent, begun, noise, clients, refusing)) {}
    }

    private static func shutDown(_ origin: Origin) { origin.shutdownAndWait() }

    private static func entries(_ directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
    }

    /// Returns the names of the library's threads; those of Swift's own pool come and go.
    private static func ownThreads() throws -> [String] {
        try entries("/proc/self/task")
            .compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
            .filter { $0.hasPrefix("lupine-") && !$0.hasPrefix("lupine-origin-p") }
    }
}
