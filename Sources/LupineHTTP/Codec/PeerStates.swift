// SPDX-License-Identifier: MIT

/// The states of both sides of a connection, as a client sees them.
///
///     ours      idle -> sending -> sent -> (idle, with the next request)
///     theirs    idle -> head -> body -> ended -> (idle)
///                          \-> handedOver            any -> closed
///
/// The sides advance separately, since a response may be complete before its request is; only this type decides whether the next
/// request may begin.
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
    /// Whether neither side has announced that this message is its last.
    private(set) var keepAlive = true

    /// Whether a request may be sent now.
    var mayBegin: Bool {
        switch (ours, theirs) {
        case (.idle, .idle): true
        case (.sent, .ended): keepAlive
        case (.idle, _), (.sending, _), (.sent, _): false
        }
    }

    /// Records that one side has announced the end of the connection with this message.
    mutating func forbidReuse() { keepAlive = false }

    /// The only writer of the two states. Misuse by the owner traps; a peer's violation is detected before and never gets here.
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
