// SPDX-License-Identifier: MIT

/// A state machine for a client's connection: the state of the current request, and that of its response.
///
///     request   idle -> sending -> sent -> (sending, with the next request)
///     response  idle -> head -> body -> ended -> (head, with the next request)
///                          \-> handedOver            any -> closed, failed
///
/// The two states advance separately, because a response may be complete before its request. Only this type decides whether the
/// next request may be sent.
struct ExchangeStates {
    /// The progress of sending the request.
    enum Request: Hashable { case idle, sending, sent }

    /// What the client expects next from the server: the head or the body of a response, or nothing.
    enum Response: Hashable {
        /// No request has been sent yet.
        case idle
        case head, body
        /// The response is complete.
        case ended
        /// The server has switched to another protocol: the following octets are not HTTP.
        case handedOver
        /// The server has closed the connection.
        case closed
        /// The server has sent invalid octets, or closed the connection within a response.
        case failed
    }

    enum Event: Hashable {
        case requestBegan, requestEnded
        /// A final head arrived, after which the connection still carries HTTP.
        case headReceived
        /// A final head arrived after which the octets are not HTTP: 101, or a 2xx response to CONNECT.
        case handoverReceived
        case bodyEnded
        /// The server closed the connection where that is allowed.
        case peerClosed
        /// The server sent invalid octets, or closed the connection within a response.
        case peerFailed
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

    /// Records that one side has announced that it closes the connection after the current exchange.
    mutating func forbidReuse() { allowsReuse = false }

    /// Advances the two states by an event; no other function changes them. An event that is impossible in the current states is
    /// a mistake of the codec's owner, and traps. Octets of the peer never cause such an event, because the parser refuses them
    /// first.
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
