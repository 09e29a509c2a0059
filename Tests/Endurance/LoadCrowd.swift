// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// Those who ask: many tasks for each host, each with requests of its own, whose answers have to be theirs.
struct LoadCrowd: Sendable {
    /// Roots of services that nobody but `hold` asks, so that their connections lie idle behind it.
    let quiet: [String]
    /// Roots of the same hosts' other services.
    let busy: [String]

    /// One request each of `perHost` tasks for each of the roots, all of them there before the first is answered.
    func hold(_ session: Session, _ name: String, _ roots: [String], perHost: Int) async -> Waits {
        await all(roots.count, perHost) { host, index in
            await ask(session, "\(roots[host])/hold/\(name)/", host, ["\(host)-\(index)"])
        }
    }

    /// `rounds` requests, one behind the other, of each of `perHost` tasks for each host.
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
            // Hosts take turns, so that none has all its requests in line before another's first.
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
