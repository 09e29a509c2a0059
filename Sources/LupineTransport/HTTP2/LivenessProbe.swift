// SPDX-License-Identifier: MIT

/// Decides whether the peer of a silent connection is still reachable. It sends a PING only when an exchange begins.
///
/// A path can disappear without notice (a router that dropped its state, a machine that was switched off), and TCP takes many
/// minutes to detect it. A connection that has received nothing for `silence` sends a PING with the next request: an idle
/// connection sends nothing, and a server that counts PINGs against clients (gRPC) does not count those that come with
/// requests. Any octet is an answer: a peer that is slow to answer PING but sends something else is alive. So is a peer whose
/// kernel continues to acknowledge what was sent: the PING may be queued behind a long upload.
///
/// Pure: times and counts are arguments.
struct LivenessProbe: Hashable {
    /// A connection that has received nothing for this long sends a PING. Many routers forget a silent path after a minute,
    /// some earlier; a connection in use never sends one.
    static let silence = Interval.seconds(15)
    /// How long the peer may take to send anything at all: enough for the first retransmissions of a lost packet, which start
    /// after 0.2 to 1 s and double each time, and for the longest round trips.
    static let timeout = Interval.seconds(10)

    enum Verdict: Hashable {
        /// The peer has answered, or no PING was sent.
        case alive
        /// Nothing has arrived for half of `timeout`. Check again at the given time.
        case doubtful(checkAgain: Instant)
        case gone
    }

    private enum State: Hashable {
        /// No PING is unanswered.
        case quiet  // → asked
        /// A PING was sent at `since`. `acknowledged` is the number of octets that the peer's kernel had acknowledged at the last
        /// check; nil before the first check.
        case asked(since: Instant, acknowledged: UInt64?)  // → quiet
    }

    private var state = State.quiet

    /// Called when an exchange begins. Returns the time of the first check; nil when no PING is needed.
    mutating func exchangeBegins(at now: Instant, lastReceived: Instant) -> Instant? {
        guard state == .quiet, lastReceived + Self.silence <= now else { return nil }
        state = .asked(since: now, acknowledged: nil)
        return now + Self.checkInterval
    }

    /// Checks the peer. `acknowledged` is how many of the connection's octets the peer's kernel has acknowledged, if known.
    mutating func check(at now: Instant, lastReceived: Instant, acknowledged: UInt64?) -> Verdict {
        guard case .asked(let since, let acknowledgedBefore) = state, lastReceived < since else {
            state = .quiet
            return .alive
        }
        // The second check: the peer's kernel has acknowledged nothing since the first, or the local kernel does not know.
        if let acknowledgedBefore, acknowledgedBefore == acknowledged ?? 0 {
            state = .quiet
            return .gone
        }
        state = .asked(since: since, acknowledged: acknowledged ?? 0)
        return .doubtful(checkAgain: now + Self.checkInterval)
    }

    /// Half of `timeout`: the time between two checks.
    private static var checkInterval: Interval { Interval(nanoseconds: timeout.nanoseconds / 2) }
}
