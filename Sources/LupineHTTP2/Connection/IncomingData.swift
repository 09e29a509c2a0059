// SPDX-License-Identifier: MIT

/// The DATA frame that is being received: how much of its content is delivered, and how much is returned to the windows at its
/// end.
///
/// Content is delivered if the owner of the connection receives it, and dropped if the stream accepts no more of it.
struct IncomingData: Hashable, Sendable {
    /// The numbers of octets in a frame.
    struct OctetCounts: Hashable, Sendable {
        /// The whole payload.
        var total: Int
        /// The content so far.
        var content = 0
        /// The content that was delivered so far.
        var delivered = 0

        /// At the end of the frame: the octets that the owner never consumes, which are padding and content that was dropped.
        var dropped: Int { total &- delivered }
        /// At the end of the frame: the octets of padding, including the Pad Length field.
        var padding: Int { total &- content }
    }

    /// After an arrow: the states that may follow.
    private enum State: Hashable, Sendable {
        /// No DATA frame is being received.
        case none  // → delivering, dropping
        /// The content is delivered.
        case delivering(OctetCounts)  // → dropping, none
        /// The remaining content is dropped.
        case dropping(OctetCounts)  // → none
    }

    /// What happens to the frame.
    enum Event: Hashable, Sendable {
        /// A frame with a payload of `total` octets begins. Its content is delivered if `isWanted`, and dropped otherwise.
        case begin(total: Int, isWanted: Bool)
        /// The stream accepts no more content.
        case drop
        /// A number of octets of content were received.
        case content(Int)
        /// The frame ends.
        case end
    }

    /// The action that an event requires.
    enum Action: Hashable, Sendable {
        case nothing
        /// Deliver the content.
        case deliver
        /// The frame ended: return the dropped octets to the connection's window, and if `isWanted`, also to the stream's.
        case release(OctetCounts, isWanted: Bool)
    }

    private var state = State.none

    /// Changes the state for an event, and returns the action that the event requires.
    mutating func handle(_ event: Event) -> Action {
        switch (state, event) {
        case (_, .begin(let total, let isWanted)):
            state = isWanted ? .delivering(OctetCounts(total: total)) : .dropping(OctetCounts(total: total))
            return .nothing
        case (.delivering(let counts), .drop):
            state = .dropping(counts)
            return .nothing
        case (.delivering(var counts), .content(let count)):
            counts.content &+= count
            counts.delivered &+= count
            state = .delivering(counts)
            return .deliver
        case (.dropping(var counts), .content(let count)):
            counts.content &+= count
            state = .dropping(counts)
            return .nothing
        case (.delivering(let counts), .end):
            state = .none
            return .release(counts, isWanted: true)
        case (.dropping(let counts), .end):
            state = .none
            return .release(counts, isWanted: false)
        case (.none, .drop), (.none, .content), (.none, .end), (.dropping, .drop):
            return .nothing
        }
    }
}
