// SPDX-License-Identifier: MIT

/// Where both sides of a connection stand, held jointly, as a client sees them.
///
///     ours      idle -> sending -> sent -> (idle, with the next request)
///     theirs    idle -> head -> body -> ended -> (idle)
///                          \-> handedOver            any -> closed
///
/// The sides move on their own, since a response may be over before its request is; what they may do together
/// (begin anew, be reused) is asked here and nowhere else.
struct PeerStates {
    enum Ours: Hashable { case idle, sending, sent }
    enum Theirs: Hashable { case idle, head, body, ended, handedOver, closed, failed }

    enum Event: Hashable {
        case requestBegan, requestEnded
        case headReceived, handoverReceived, bodyEnded
        case peerClosed, peerFailed
    }

    private(set) var ours = Ours.idle
    private(set) var theirs = Theirs.idle
    /// Whether neither side has said that this message is its last.
    private(set) var keepAlive = true

    /// Whether a request may be sent now.
    var mayBegin: Bool {
        switch (ours, theirs) {
        case (.idle, .idle): true
        case (.sent, .ended): keepAlive
        case (.idle, _), (.sending, _), (.sent, _): false
        }
    }

    /// One side has said that the connection ends with this message.
    mutating func forbidReuse() { keepAlive = false }

    /// The only writer of the two states. What our own side cannot do traps; what a peer cannot do is not asked.
    mutating func handle(_ event: Event) {
        switch (event, ours, theirs) {
        case (.requestBegan, .idle, .idle), (.requestBegan, .sent, .ended):
            precondition(keepAlive, "a request on a connection that is not to be reused")
            (ours, theirs) = (.sending, .head)
        case (.requestEnded, .sending, _):
            ours = .sent
        case (.headReceived, _, .head):
            theirs = .body
        case (.handoverReceived, _, .head):
            theirs = .handedOver
            keepAlive = false
        case (.bodyEnded, _, .body):
            theirs = .ended
        case (.peerClosed, _, _):
            theirs = .closed
            keepAlive = false
        case (.peerFailed, _, _):
            theirs = .failed
            keepAlive = false
        case (.requestBegan, _, _), (.requestEnded, _, _), (.headReceived, _, _), (.handoverReceived, _, _),
            (.bodyEnded, _, _):
            preconditionFailure("\(event) is impossible while we are \(ours) and the peer is \(theirs)")
        }
    }
}
