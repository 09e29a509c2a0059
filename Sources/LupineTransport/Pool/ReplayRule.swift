// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Decides whether an exchange whose connection failed may be sent again without asking the caller (RFC 9110 §9.2.2, RFC 9112
/// §9.3.1).
///
/// A server may close an idle connection at the moment a request is sent on it; the transport hides that race by sending the
/// request again. A request that the server reports as not processed may be sent again, whatever its method (RFC 9113 §8.7).
/// The caller decides about every other retry. The rule is a pure function of what is known when the connection fails.
package enum ReplayRule {
    /// The state of an exchange when its connection failed.
    package struct FailedAttempt: Hashable, Sendable {
        /// Whether the connection had carried an earlier exchange. Only then may the server have closed it as idle.
        package var connectionWasReused: Bool
        /// Whether at least one byte of a response to this exchange arrived.
        package var responseBegan: Bool
        /// Whether the kernel or TLS has accepted at least one byte of the request.
        package var requestBegan: Bool
        /// The method of the request.
        package var method: Method
        /// Whether the body is absent or can be produced again from its start.
        package var bodyIsReplayable: Bool
        /// Whether the peer has reported that it did not process the request, or it is certain that nothing reached the peer.
        package var isUnprocessed: Bool
        /// How often the exchange has been sent again before.
        package var replays: Int

        /// Creates the attempt. No parameter has a default, so that none can be forgotten.
        package init(
            connectionWasReused: Bool, responseBegan: Bool, requestBegan: Bool, method: Method,
            bodyIsReplayable: Bool, isUnprocessed: Bool, replays: Int
        ) {
            self.connectionWasReused = connectionWasReused
            self.responseBegan = responseBegan
            self.requestBegan = requestBegan
            self.method = method
            self.bodyIsReplayable = bodyIsReplayable
            self.isUnprocessed = isUnprocessed
            self.replays = replays
        }
    }

    /// How often an exchange that the peer did not process is sent again. The last attempt uses a fresh connection.
    package static let replayLimit = 3

    /// Returns whether the exchange may be sent again without asking the caller.
    package static func mayReplay(_ attempt: FailedAttempt) -> Bool {
        if attempt.responseBegan { return false }
        if attempt.isUnprocessed {
            return attempt.replays < replayLimit && (!attempt.requestBegan || attempt.bodyIsReplayable)
        }
        guard attempt.connectionWasReused, attempt.replays == 0 else { return false }
        if !attempt.requestBegan { return true }
        return attempt.method.isIdempotent && attempt.bodyIsReplayable
    }
}
