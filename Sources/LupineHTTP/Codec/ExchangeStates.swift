// SPDX-License-Identifier: MIT

/// The states of the current request and of its response on a connection, as a client sees them.
///
///     request   idle -> sending -> sent -> (idle, with the next request)
///     response  idle -> head -> body -> ended -> (idle)
///                          \-> handedOver            any -> closed
///
/// The two states advance separately, because a response may be complete before its request. Only this type decides whether the
/// next request may be sent.
struct ExchangeStates {
    enum Request: Hashable { case idle, sending, sent }
    enum Response: Hashable { case idle, head, body, ended, handedOver, closed, failed }

    enum Event: Hashable {
        case requestBegan, requestEnded
        case headReceived, handoverReceived, bodyEnded
        case peerClosed, peerFailed
    }

    private(set) var request = Request.idle
    private(set) var response = Response.idle
    /// Whether neither side has announced the end of the connection.
    private(set) var allowsReuse = true

    /// Whether a request may be sent now.
    var maySendRequest: Bool {
        switch (request, response) {
        case (.idle, .idle): true
        case (.sent, .ended): allowsReuse
        case (.idle, _), (.sending, _), (.sent, _): false
        }
    }

    /// Records that one side has announced the end of the connection after the current exchange.
    mutating func forbidReuse() { allowsReuse = false }

    /// The only writer of the two states. Misuse by the owner traps. The parser has detected a peer's violations before, so that
    /// they never cause an event here.
    mutating func handle(_ event: Event) {
        switch (event, request, response) {
        case (.requestBegan, .idle, .idle), (.requestBegan, .sent, .ended):
            precondition(allowsReuse, "a request on a connection that is not to be reused")
            (request, response) = (.sending, .head)
        case (.requestEnded, .sending, _):
            request = .sent
        case (.headReceived, _, .head):
            response = .body
        case (.handoverReceived, _, .head):
            response = .handedOver
            allowsReuse = false
        case (.bodyEnded, _, .body):
            response = .ended
        case (.peerClosed, _, _):
            response = .closed
            allowsReuse = false
        case (.peerFailed, _, _):
            response = .failed
            allowsReuse = false
        case (.requestBegan, _, _), (.requestEnded, _, _), (.headReceived, _, _), (.handoverReceived, _, _),
            (.bodyEnded, _, _):
            preconditionFailure(
                "\(event) is impossible while the request is \(request) and the response is \(response)")
        }
    }
}
