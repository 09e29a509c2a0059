// SPDX-License-Identifier: MIT

/// The DATA frame that is being received: what of it goes upward, and what the windows get back at its end.
struct IncomingData: Hashable, Sendable {
    /// Octets of a frame: of its whole payload, of its content so far, and of content that went upward.
    struct Count: Hashable, Sendable {
        var total: Int
        var content = 0
        var delivered = 0

        /// What nobody will consume: padding, and content that was dropped.
        var dropped: Int { total &- delivered }
        var padding: Int { total &- content }
    }

    private enum State: Hashable, Sendable {
        case none  // → delivering, dropping
        /// Its content goes upward.
        case delivering(Count)  // → dropping, none
        /// Nobody wants its content, or what is left of it.
        case dropping(Count)  // → none
    }

    enum Event: Hashable, Sendable {
        /// A frame begins whose payload has so many octets.
        case begin(total: Int, isWanted: Bool)
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
        /// The frame is over, and its stream may still take it or not.
        case settle(Count, isWanted: Bool)
    }

    private var state = State.none

    /// The only writer of `state`.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (_, .begin(let total, let isWanted)):
            state = isWanted ? .delivering(Count(total: total)) : .dropping(Count(total: total))
            return .nothing
        case (.delivering(let count), .drop):
            state = .dropping(count)
            return .nothing
        case (.delivering(var count), .content(let more)):
            count.content &+= more
            count.delivered &+= more
            state = .delivering(count)
            return .deliver
        case (.dropping(var count), .content(let more)):
            count.content &+= more
            state = .dropping(count)
            return .nothing
        case (.delivering(let count), .end):
            state = .none
            return .settle(count, isWanted: true)
        case (.dropping(let count), .end):
            state = .none
            return .settle(count, isWanted: false)
        case (.none, .drop), (.none, .content), (.none, .end), (.dropping, .drop):
            return .nothing
        }
    }
}
