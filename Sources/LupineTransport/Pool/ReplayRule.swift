// SPDX-License-Identifier: MIT

package import LupineHTTP

/// Whether an exchange whose connection died may be sent again without asking anyone (RFC 9110 §9.2.2,
/// RFC 9112 §9.3.1).
///
/// A server may close an idle connection at the moment a request is put on it; that race is the transport's to hide. A
/// server that says it has done nothing about a request may be sent it again, whatever the method (RFC 9113 §8.7).
/// A pure function of what is known when the connection dies. Every other retry belongs to the caller.
package enum ReplayRule {
    /// The state of one exchange when its connection died.
    package struct Evidence: Hashable, Sendable {
        /// The connection had carried an earlier exchange: only then can the race have happened.
        package var connectionWasReused: Bool
        /// At least one byte of a response to this exchange arrived.
        package var responseBegan: Bool
        /// At least one byte of the request was handed to the kernel or to TLS.
        package var requestBegan: Bool
        /// The method of the request.
        package var method: Method
        /// The body is absent or can be produced again from its start.
        package var bodyIsReplayable: Bool
        /// The peer has done nothing about the request, and says so, or has not got any of it.
        package var isUntouched: Bool
        /// How often the exchange has been sent again before.
        package var replays: Int

        /// The evidence, complete: nothing has a default that could be forgotten.
        package init(
            connectionWasReused: Bool, responseBegan: Bool, requestBegan: Bool, method: Method,
            bodyIsReplayable: Bool, isUntouched: Bool, replays: Int
        ) {
            self.connectionWasReused = connectionWasReused
            self.responseBegan = responseBegan
            self.requestBegan = requestBegan
            self.method = method
            self.bodyIsReplayable = bodyIsReplayable
            self.isUntouched = isUntouched
            self.replays = replays
        }
    }

    /// How often an exchange is sent again that the peer has done nothing about. The last time goes over a fresh connection.
    package static let mostReplays = 3

    /// True when the exchange goes out once more.
    package static func mayReplay(_ evidence: Evidence) -> Bool {
        if evidence.responseBegan { return false }
        if evidence.isUntouched {
            return evidence.replays < mostReplays && (!evidence.requestBegan || evidence.bodyIsReplayable)
        }
        guard evidence.connectionWasReused, evidence.replays == 0 else { return false }
        if !evidence.requestBegan { return true }
        return evidence.method.isIdempotent && evidence.bodyIsReplayable
    }
}
