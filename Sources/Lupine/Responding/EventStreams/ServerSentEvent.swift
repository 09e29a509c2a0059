// SPDX-License-Identifier: MIT

public import Foundation

/// An event of an event stream, as the WHATWG HTML standard dispatches it (§9.2.6).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event: the `event` field, or `message`.
    public let type: String
    /// The `data` lines, joined by line feeds.
    public let data: String
    /// The latest identifier that the stream has sent, after which a later request can continue; empty if it has sent none.
    public let lastEventID: String
    /// The delay in seconds before a reconnection, as the stream has sent it; nil when it has not sent one.
    public let reconnectionTime: TimeInterval?

    /// Creates an event.
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
