// SPDX-License-Identifier: MIT

import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

/// A server that fails three of ten requests, and counts how often each request arrived. A seed determines the requests and the
/// failures.
final class FlakyServer: Sendable {
    /// The failures of one request before it is served.
    struct Fate: Sendable {
        let way: Failing
        /// The number of attempts that fail.
        let turns: Int
    }

    private let fates: [Fate?]
    private let asked: Protected<[Int]>

    /// Makes a server for `requests` requests.
    ///
    /// - Parameters:
    /// - seed: The seed of the random choice.
    /// - most: The maximum number of attempts of a request that fail.
    /// - seldom: The number of requests for which the server falls silent.
    init(requests: Int, seed: UInt64, most: Int, seldom: Int) {
        var random = SeededRandom(seed: seed)
        let often = Failing.ways.filter { $0.frequency == .often }
        let rare = Failing.ways.filter { $0.frequency == .seldom }
        var fates = [Fate?](repeating: nil, count: requests)
        let failing = (0..<requests).shuffled(using: &random).prefix(requests * 3 / 10)
        for (index, number) in failing.enumerated() {
            // Every way occurs; the requests are chosen at random. Silence costs a time-out, so it occurs at most once per
            // request.
            let isRare = index < seldom
            let ways = isRare ? rare : often
            fates[number] = Fate(
                way: ways[index % ways.count], turns: isRare ? 1 : Int.random(in: 1...most, using: &random))
        }
        self.fates = fates
        asked = Protected([Int](repeating: 0, count: requests))
    }

    /// The number of times that each request arrived.
    var counts: [Int] { asked.read { $0 } }

    /// Returns the failures of a request, or nil if it is served at once.
    func fate(of number: Int) -> Fate? { fates[number] }

    /// Returns whether the next attempt of a request fails.
    func isAboutToFail(_ number: Int) -> Bool {
        asked.read { $0[number] } < fates[number]?.turns ?? 0
    }

    /// Answers `/storm/NUMBER` with the number, after the failures of that request.
    func serve(at origin: LupineOrigin.Origin) {
        origin.route(
            "GET", "/storm/{number}",
            .chosen { [fates, asked] request throws(Refusal) in
                guard let number = request.parameters.first.flatMap({ Int($0) }),
                    fates.indices.contains(number)
                else { throw .badRequest("no number") }
                let turn = asked.write { asked in
                    asked[number] += 1
                    return asked[number]
                }
                if let fate = fates[number], turn <= fate.turns {
                    switch fate.way.kind {
                    case .status(let status): return .respond(OriginResponse(status))
                    case .script(let steps): return .follow(Script(steps))
                    }
                }
                return .respond(try OriginResponse(200, "text/plain", Array("\(number)".utf8)))
            })
    }
}
