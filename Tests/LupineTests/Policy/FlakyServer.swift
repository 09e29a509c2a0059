// SPDX-License-Identifier: MIT

import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

/// A server that fails three of ten requests, which ones and how being drawn by a seed, and counts how often each came.
final class FlakyServer: Sendable {
    /// What happens to one request before it is served.
    struct Fate: Sendable {
        let way: Failing
        /// The first so many turns fail.
        let turns: Int
    }

    private let fates: [Fate?]
    private let asked: Protected<[Int]>

    /// A server for so many requests.
    ///
    /// - Parameters:
    ///   - seed: What the drawing of the fates starts with.
    ///   - most: The most turns in which a request fails.
    ///   - seldom: How many requests meet a server that falls silent.
    init(requests: Int, seed: UInt64, most: Int, seldom: Int) {
        var random = SeededRandom(seed: seed)
        let often = Failing.ways.filter { $0.frequency == .often }
        let rare = Failing.ways.filter { $0.frequency == .seldom }
        var fates = [Fate?](repeating: nil, count: requests)
        let failing = (0..<requests).shuffled(using: &random).prefix(requests * 3 / 10)
        for (index, number) in failing.enumerated() {
            // Each way has its turn; who meets it is left to chance. A silence costs a time-out, so there is one at most.
            let isRare = index < seldom
            let ways = isRare ? rare : often
            fates[number] = Fate(
                way: ways[index % ways.count], turns: isRare ? 1 : Int.random(in: 1...most, using: &random))
        }
        self.fates = fates
        asked = Protected([Int](repeating: 0, count: requests))
    }

    /// How often each request came.
    var counts: [Int] { asked.read { $0 } }

    /// What happens to a request; nil when it is served at once.
    func fate(of number: Int) -> Fate? { fates[number] }

    /// Whether the next turn of a request fails.
    func isAboutToFail(_ number: Int) -> Bool {
        asked.read { $0[number] } < fates[number]?.turns ?? 0
    }

    /// Answers `/storm/NUMBER` with the number, when its failures are over.
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
