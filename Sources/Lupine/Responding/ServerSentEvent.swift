// SPDX-License-Identifier: MIT

public import Foundation

/// One event of an event stream, as the WHATWG HTML standard dispatches it (§9.2.6).
public struct ServerSentEvent: Hashable, Sendable {
    /// What kind of event it is: the `event` field, or `message`.
    public let type: String
    /// The `data` lines, joined by line feeds.
    public let data: String
    /// The last identifier that the stream has named so far; empty when it has named none. What to go on from.
    public let lastEventID: String
    /// How long the stream asks clients to wait before they connect again, in seconds; nil when it has not asked.
    public let reconnectionTime: TimeInterval?

    /// An event of these parts.
    public init(
        type: String = "message", data: String, lastEventID: String = "",
        reconnectionTime: TimeInterval? = nil
    ) {
        self.type = type
        self.data = data
        self.lastEventID = lastEventID
        self.reconnectionTime = reconnectionTime
    }
}
