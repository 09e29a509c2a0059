// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// Concurrent clients: many tasks for each host, each with its own requests, whose responses must match them.
struct LoadCrowd: Sendable {
    /// Base URLs of services that only `hold` uses, so that their connections are idle afterwards.
    let quiet: [String]
    /// Base URLs of the same hosts' other services.
    let busy: [String]

    /// Sends one request from each of `perHost` tasks to each of `roots`; all arrive before the first is answered.
    func hold(_ session: Session, _ name: String, _ roots: [String], perHost: Int) async -> Waits {
        await all(roots.count, perHost) { host, index in
            await ask(session, "\(roots[host])/hold/\(name)/", host, ["\(host)-\(index)"])
        }
    }

    /// Sends `rounds` consecutive requests from each of `perHost` tasks to each host.
    func ask(_ session: Session, perHost: Int, rounds: Int) async -> Waits {
        await all(busy.count, perHost) { host, index in
            await ask(session, "\(busy[host])/echo/", host, (0..<rounds).map { "\(host)-\(index)-\($0)" })
        }
    }

    private func all(
        _ hosts: Int, _ perHost: Int, _ one: @escaping @Sendable (Int, Int) async -> Waits
    ) async -> Waits {
        let start = ContinuousClock.now
        var waits = await withTaskGroup(of: Waits.self) { group in
            // Alternates between the hosts, so that no host has all its requests queued before another's first.
            for index in 0..<perHost {
                for host in 0..<hosts { group.addTask { await one(host, index) } }
            }
            var waits = Waits(hosts: hosts)
            for await some in group { waits.add(some) }
            return waits
        }
        waits.whole = ContinuousClock.now - start
        return waits
    }

    private func ask(_ session: Session, _ root: String, _ host: Int, _ tags: [String]) async -> Waits {
        var waits = Waits(hosts: busy.count)
        for tag in tags {
            let start = ContinuousClock.now
            do {
                let text = try await session.request(root + tag).validate().serializingString().value
                if text == tag {
                    waits.add(ContinuousClock.now - start, host)
                } else {
                    waits.add(wrong: "\(tag) was answered with \(text)")
                }
            } catch {
                waits.add(wrong: "\(tag): \(error)")
            }
        }
        return waits
    }
}
