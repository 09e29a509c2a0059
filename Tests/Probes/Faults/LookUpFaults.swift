// SPDX-License-Identifier: MIT

import CLupineFaults
import Foundation
import Lupine

/// A resolver that hangs: a request that depends on it waits until its time-out, and no other request waits.
struct LookUpFaults {
    let origin: FaultOrigin
    /// The number of look-ups that can hang at the same time: the threads of the process's pool.
    private static let most = 16

    func run() async throws {
        let session = origin.session()
        try await origin.check(session)

        // The look-up is slow, but within the time-out.
        try await origin.check(session, host: "a.late.test")

        // The look-up takes longer than the time-out: the request does not wait for it.
        let start = ContinuousClock.now
        let late = try await failure(session, "b.late.test") { $0.timeoutInterval = 0.2 }
        try origin.require(late.code == .timedOut, "a late look-up: \(late)")
        try await origin.check(session, host: "quick.test")

        // Some look-ups hang. Other requests proceed, and so does the look-up of another name.
        let hanging = (0..<Self.most - 1).map { index in
            session.request(origin.url("/range/10", host: "\(index).hang.test")).serializingData()
        }
        while lupine_held_lookups() < Self.most - 1 { await Task.yield() }
        try await origin.check(session, host: "c.quick.test")
        try await origin.check(session)

        // A cancelled request ends at once; its thread is occupied as long as the look-up hangs.
        hanging[0].cancel()
        let cancelled = await hanging[0].response
        try origin.require(cancelled.error?.isExplicitlyCancelledError == true, "cancelled: \(cancelled)")

        // All threads hang: a further request fails when its look-up could not begin for some seconds.
        let last = session.request(origin.url("/range/10", host: "last.hang.test")).serializingData()
        while lupine_held_lookups() < Self.most { await Task.yield() }
        let refused = try await failure(session, "d.quick.test")
        try origin.require(refused.code == .dnsLookupFailed, "all look-ups hang: \(refused)")
        try origin.require("\(refused)".contains("\(Self.most)"), "which limit, is not said: \(refused)")
        try await origin.check(session)

        // Once the resolver answers, all requests that still wait get their responses.
        lupine_hold_lookups(0)
        for task in hanging.dropFirst() + [last] {
            let data = try await task.value
            try origin.require(data == origin.alphabet(10), "behind a look-up that hung: \(data.count) bytes")
        }
        try await origin.check(session, host: "0.hang.test")
        try origin.require(ContinuousClock.now - start < .seconds(60), "it took a minute")

        // A look-up that hangs when the program ends does not delay the exit.
        lupine_hold_lookups(1)
        session.request(origin.url("/range/10", host: "end.hang.test")).response { _ in }
        while lupine_held_lookups() == 0 { await Task.yield() }
    }

    private func failure(
        _ session: Session, _ host: String,
        _ change: @escaping @Sendable (inout URLRequest) throws -> Void = { _ in }
    ) async throws -> URLError {
        let request = session.request(origin.url("/range/10", host: host), requestModifier: change)
        guard let error = await request.serializingData().response.error?.urlError else {
            throw FaultProbe.Failure("\(host): no error")
        }
        return error
    }
}
