// SPDX-License-Identifier: MIT

import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

/// A server that fails three of ten requests, and counts how often each request arrived. A seed determines the requests and the
/// failures.
final class FlakyServer: Sendable {
    /// The failures of one request before the server answers it.
    struct PlannedFailure: Sendable {
        let mode: FailureMode
        /// The number of attempts that fail.
        let count: Int
    }

    private let plannedFailures: [PlannedFailure?]
    private let arrivals: Protected<[Int]>

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - requests: The number of requests.
    ///   - seed: The seed of the random choice.
    ///   - maximumFailures: The maximum number of attempts of a request that fail.
    ///   - silentRequests: The number of requests for which the server falls silent.
    init(requests: Int, seed: UInt64, maximumFailures: Int, silentRequests: Int) {
        var random = SeededRandom(seed: seed)
        let common = FailureMode.all.filter { $0.frequency == .common }
        let rare = FailureMode.all.filter { $0.frequency == .rare }
        var plannedFailures = [PlannedFailure?](repeating: nil, count: requests)
        let failingRequests = (0..<requests).shuffled(using: &random).prefix(requests * 3 / 10)
        for (index, number) in failingRequests.enumerated() {
            // Every mode occurs; the requests are chosen at random. Silence costs a time-out, so it occurs at most once per
            // request.
            let isRare = index < silentRequests
            let modes = isRare ? rare : common
            plannedFailures[number] = PlannedFailure(
                mode: modes[index % modes.count],
                count: isRare ? 1 : Int.random(in: 1...maximumFailures, using: &random))
        }
        self.plannedFailures = plannedFailures
        arrivals = Protected([Int](repeating: 0, count: requests))
    }

    /// The number of times that each request arrived.
    var counts: [Int] { arrivals.read { $0 } }

    /// Returns the failures of a request, or nil if the server answers it at once.
    func plannedFailure(of number: Int) -> PlannedFailure? { plannedFailures[number] }

    /// Returns whether the next attempt of a request fails.
    func isAboutToFail(_ number: Int) -> Bool {
        arrivals.read { $0[number] } < plannedFailures[number]?.count ?? 0
    }

    /// Answers `/storm/NUMBER` with the number, after the failures of that request.
    func serve(at origin: LupineOrigin.Origin) {
        origin.route(
            "GET", "/storm/{number}",
            .chosen { [plannedFailures, arrivals] request throws(Refusal) in
                guard let number = request.parameters.first.flatMap({ Int($0) }),
                    plannedFailures.indices.contains(number)
                else { throw .badRequest("no number") }
                let arrival = arrivals.write { arrivals in
                    arrivals[number] += 1
                    return arrivals[number]
                }
                if let failure = plannedFailures[number], arrival <= failure.count {
                    switch failure.mode.kind {
                    case .status(let status): return .respond(OriginResponse(status))
                    case .script(let steps): return .follow(Script(steps))
                    }
                }
                return .respond(try OriginResponse(200, "text/plain", Array("\(number)".utf8)))
            })
    }
}
