// SPDX-License-Identifier: MIT

import Glibc
import LupineOrigin
import LupineTestKit

/// Starts and ends origins in a process of its own and counts what they leave: descriptors and threads belong to
/// nobody else here. Exits with 0 when nothing is left.
@main struct Probe {
    static func main() async throws {
        try await round(blocking: false)
        let before = (count("/proc/self/fd"), count("/proc/self/task"))
        for index in 0..<20 { try await round(blocking: index % 2 == 0) }
        let after = (count("/proc/self/fd"), count("/proc/self/task"))
        print("descriptors \(before.0) -> \(after.0), threads \(before.1) -> \(after.1)")
        exit(before == after ? 0 : 1)
    }

    /// An origin with connections in every state, ended while they are.
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
        if blocking { shutDown(origin) } else { await origin.shutdown() }
    }

    private static func shutDown(_ origin: Origin) { origin.shutdownAndWait() }

    private static func count(_ directory: String) -> Int {
        guard let stream = unsafe opendir(directory) else { return -1 }
        defer { _ = unsafe closedir(stream) }
        var count = 0
        while unsafe readdir(stream) != nil { count += 1 }
        return count
    }
}
