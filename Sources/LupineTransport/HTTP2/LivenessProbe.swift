// SPDX-License-Identifier: MIT

/// Whether the peer of a connection that was silent is still there: asked by PING when an exchange begins, and by nothing else.
///
/// A path can go without a word (a router that forgot it, a machine that was switched off), and TCP finds that out after many
/// minutes. A connection that has heard nothing for `silence` asks together with the next request: nothing is sent while nothing
/// is wanted, and a server that counts PINGs against clients (gRPC) counts none that come with requests. Any octet is an
/// answer: a peer that is slow to answer PING, and sends something else, is there. So is one whose kernel goes on
/// acknowledging what was sent: our PING may stand behind a long upload.
///
/// Pure: times and counts are arguments.
struct LivenessProbe: Hashable {
    /// Without an octet for so long, the peer is asked. Many routers forget a silent path after a minute, some after less; a
    /// connection that is in use is never asked.
    static let silence = Interval.seconds(15)
    /// So long it has for anything at all. The first repetitions of a lost packet, which come after 0.2 to 1 s and twice the
    /// time each, and the longest ways there are fit in.
    static let timeout = Interval.seconds(10)

    enum Verdict: Hashable {
        /// It is there, or nobody has asked.
        case alive
        /// Nothing has come for half of the patience. Look again then.
        case doubtful(lookAgain: Instant)
        case gone
    }

    private enum State: Hashable {
        case quiet  // → asked
        /// `acknowledged`: what the peer's kernel had taken at the last look; nil before the first.
        case asked(since: Instant, acknowledged: UInt64?)  // → quiet
    }

    private var state = State.quiet

    /// An exchange begins. When to look whether something has come; nil where nothing is to be asked.
    mutating func exchangeBegins(at now: Instant, lastReceived: Instant) -> Instant? {
        guard state == .quiet, lastReceived + Self.silence <= now else { return nil }
        state = .asked(since: now, acknowledged: nil)
        return now + Self.half
    }

    /// It is time to look. `acknowledged` is how many octets the peer's kernel has taken of the connection's, as far as that is
    /// known.
    mutating func look(at now: Instant, lastReceived: Instant, acknowledged: UInt64?) -> Verdict {
        guard case .asked(let since, let before) = state, lastReceived < since else {
            state = .quiet
            return .alive
        }
        if let before, before == acknowledged ?? 0 {
            state = .quiet
            return .gone
        }
        state = .asked(since: since, acknowledged: acknowledged ?? 0)
        return .doubtful(lookAgain: now + Self.half)
    }

    private static var half: Interval { Interval(nanoseconds: timeout.nanoseconds / 2) }
}
