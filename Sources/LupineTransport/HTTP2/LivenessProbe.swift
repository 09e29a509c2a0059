// SPDX-License-Identifier: MIT

/// Decides whether the peer of a silent connection is still reachable.
///
/// A path can disappear without notice, for example when a router drops its state or a machine is switched off. TCP takes many
/// minutes to detect that. So a connection that has received nothing for `silence` sends a PING with the next request. An idle
/// connection sends none; servers that limit the PINGs of clients (gRPC) do not count a PING that comes with a request. Any octet
/// is an answer: a peer that is slow to answer PING but sends something else is alive. So is a peer whose kernel continues to
/// acknowledge what was sent: the PING may be queued behind a long upload.
///
/// Pure: times and counts are arguments.
struct LivenessProbe: Hashable {
    /// A connection that has received nothing for this long sends a PING with its next request. Many routers drop the state of a
    /// silent connection after a minute, some earlier.
    static let silence = Interval.seconds(15)
    /// How long the peer may take to send anything at all: enough for the first retransmissions of a lost packet, which start
    /// after 0.2 to 1 s and double each time, and for the longest round trips.
    static let timeout = Interval.seconds(10)

    /// The result of a check.
    enum Verdict: Hashable {
        /// The peer has answered, or no PING was sent.
        case alive
        /// Nothing has arrived for half of `timeout`. Check again at the given time.
        case doubtful(checkAgain: Instant)
        /// Nothing has arrived for the whole `timeout`: the connection must be closed.
        case gone
    }

    private enum State: Hashable {
        /// No PING is unanswered.
        case idle  // → pingSent
        /// A PING was sent at `since`. `acknowledged` is the number of octets that the peer's kernel had acknowledged at the last
        /// check; nil before the first check.
        case pingSent(since: Instant, acknowledged: UInt64?)  // → idle
    }

    private var state = State.idle

    /// Called when an exchange begins. Returns the time of the first check; nil when no PING is needed.
    mutating func exchangeBegins(at now: Instant, lastReceived: Instant) -> Instant? {
        guard state == .idle, lastReceived + Self.silence <= now else { return nil }
        state = .pingSent(since: now, acknowledged: nil)
        return now + Self.checkInterval
    }

    /// Checks the peer. `acknowledged` is how many of the connection's octets the peer's kernel has acknowledged, if known.
    mutating func check(at now: Instant, lastReceived: Instant, acknowledged: UInt64?) -> Verdict {
        guard case .pingSent(let since, let acknowledgedBefore) = state, lastReceived < since else {
            state = .idle
            return .alive
        }
        // A later check than the first: the peer's kernel has acknowledged nothing since the last check. If the local kernel does
        // not know (nil), that counts as nothing.
        if let acknowledgedBefore, acknowledgedBefore == acknowledged ?? 0 {
            state = .idle
            return .gone
        }
        state = .pingSent(since: since, acknowledged: acknowledged ?? 0)
        return .doubtful(checkAgain: now + Self.checkInterval)
    }

    /// Half of `timeout`: the time between two checks.
    private static var checkInterval: Interval { Interval(nanoseconds: timeout.nanoseconds / 2) }
}
