// SPDX-License-Identifier: MIT

/// The DATA frame that is being received: how much of it is delivered, and how much is returned to the windows at its end.
struct IncomingData: Hashable, Sendable {
    /// The numbers of octets of a frame: of its whole payload, of its content so far, and of the content that was delivered.
    struct Count: Hashable, Sendable {
        var total: Int
        var content = 0
        var delivered = 0

        /// The octets that the owner never consumes: padding, and content that was dropped.
        var dropped: Int { total &- delivered }
        /// The octets of padding, with Pad Length; right only at the end of the frame.
        var padding: Int { total &- content }
    }

    private enum State: Hashable, Sendable {
        case none  // → delivering, dropping
        /// The content is delivered.
        case delivering(Count)  // → dropping, none
        /// The remaining content is dropped.
        case dropping(Count)  // → none
    }

    enum Event: Hashable, Sendable {
        /// A frame with a payload of `total` octets begins. Its content is delivered if `isWanted`, and dropped otherwise.
        case begin(total: Int, isWanted: Bool)
        /// The stream accepts no more content.
        case drop
        case content(Int)
        case end
    }

    /// The action that an event requires.
    enum Action: Hashable, Sendable {
        case nothing
        /// Deliver the content.
        case deliver
        /// The frame ended: return the dropped octets to the windows. If `isWanted`, also to the stream's.
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
