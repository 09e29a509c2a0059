// SPDX-License-Identifier: MIT

/// The DATA frame that is being received: what of it goes upward, and what the windows get back at its end.
struct IncomingData: Hashable, Sendable {
    private enum State: Hashable, Sendable {
        case none  // → delivering, dropping
        /// Its content goes upward.
        case delivering(StreamID, total: Int, delivered: Int)  // → dropping, none
        /// Nobody wants its content, or what is left of it.
        case dropping(StreamID, total: Int, delivered: Int)  // → none
    }

    enum Event: Hashable, Sendable {
        /// A frame begins whose payload has so many octets.
        case begin(StreamID, total: Int, isWanted: Bool)
        /// Its stream takes no more.
        case drop
        case content(Int)
        case end
    }

    /// What is to be done about an event.
    enum Action: Hashable, Sendable {
        case nothing
        /// The content at hand goes upward.
        case deliver
        /// The frame is over: so many octets were content that went upward, so many were padding or dropped.
        case settle(delivered: Int, dropped: Int, isWanted: Bool)
    }

    private var state = State.none

    /// The only writer of `state`.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (.none, .begin(let stream, let total, let isWanted)),
            (.delivering, .begin(let stream, let total, let isWanted)),
            (.dropping, .begin(let stream, let total, let isWanted)):
            state =
                isWanted
                ? .delivering(stream, total: total, delivered: 0)
                : .dropping(stream, total: total, delivered: 0)
            return .nothing
        case (.delivering(let stream, let total, let delivered), .drop):
            state = .dropping(stream, total: total, delivered: delivered)
            return .nothing
        case (.delivering(let stream, let total, let delivered), .content(let count)):
            state = .delivering(stream, total: total, delivered: delivered &+ count)
            return .deliver
        case (.delivering(_, let total, let delivered), .end):
            state = .none
            return .settle(delivered: delivered, dropped: total &- delivered, isWanted: true)
        case (.dropping(_, let total, let delivered), .end):
            state = .none
            return .settle(delivered: delivered, dropped: total &- delivered, isWanted: false)
        case (.none, .drop), (.none, .content), (.none, .end), (.dropping, .drop), (.dropping, .content):
            return .nothing
        }
    }
}
