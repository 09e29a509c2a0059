// SPDX-License-Identifier: MIT

/// The state machine of a client's connection from the arrival of the peer's chain to the verdict about it.
///
/// The engine reports events, and obeys the returned advice. With TLS 1.3, OpenSSL stops when it has the chain. With TLS 1.2,
/// the stapled OCSP response (the staple) follows the chain (RFC 6066 §8). So OpenSSL continues to the end of the server's flight
/// (its group of handshake messages), and the engine holds back OpenSSL's output until the verdict. In a resumed handshake, the
/// server sends no chain: the owner judges the chain of the session before the client sends anything else.
struct TrustMachine {
    /// The progress of the decision. An arrow in the comments lists the states that may follow.
    enum State: Hashable {
        case noChain  // -> stopped, readingFlight, resumed
        case stopped  // -> accepted, refused; OpenSSL waits in its verification of the chain
        case readingFlight  // -> flightRead; OpenSSL continues reading: the staple may follow
        case flightRead  // -> accepted, refused; the server's flight is complete, output is held back
        case resumed  // -> accepted, refused; the owner judges the chain of an earlier handshake
        case accepted
        case refused(TrustFailure, from: Refusal)
    }

    /// The state in which the owner refused the chain. It decides who sends the alert.
    enum Refusal: Hashable {
        case stopped  // OpenSSL sends an encrypted alert
        case flightRead  // the engine sends a plaintext alert, because this side does not encrypt yet
        case resumed  // no alert; the handshake is complete, and the engine closes the connection
    }

    enum Event {
        /// The peer's chain has arrived. With TLS 1.3 it includes the stapled response.
        case chain(includesStaple: Bool)
        /// OpenSSL is about to send its next flight, or to choose the client certificate for it.
        case wantsToSend
        /// The handshake is complete, and no chain has arrived, because the handshake resumes a session.
        case resumedWithoutChain
        /// The owner's verdict.
        case verdict(Result<Void, TrustFailure>)
    }

    /// What the engine's callbacks have to tell OpenSSL.
    enum Advice: Hashable {
        case proceed
        /// Stop until the owner has given its verdict.
        case wait
        case refuse(TrustFailure)
    }

    private(set) var state = State.noChain

    /// Whether the handshake waits for the owner's verdict.
    var needsVerdict: Bool {
        switch state {
        case .stopped, .flightRead, .resumed: true
        case .noChain, .readingFlight, .accepted, .refused: false
        }
    }

    /// Whether the engine may send alerts, but no other record.
    var allowsOnlyAlerts: Bool {
        switch state {
        case .readingFlight, .flightRead, .refused(_, from: .flightRead): true
        case .noChain, .stopped, .resumed, .accepted, .refused: false
        }
    }

    /// Changes the state for an event, and returns the advice. No other function changes `state`.
    mutating func handle(_ event: Event) -> Advice {
        switch (state, event) {
        case (.noChain, .chain(includesStaple: true)):
            state = .stopped
            return .wait
        case (.noChain, .chain(includesStaple: false)):
            state = .readingFlight
            return .proceed
        case (.noChain, .resumedWithoutChain):
            state = .resumed
            return .wait
        case (.readingFlight, .wantsToSend):
            state = .flightRead
            return .wait
        case (.stopped, .chain), (.stopped, .wantsToSend), (.flightRead, .wantsToSend): return .wait
        case (.stopped, .verdict(.success)), (.flightRead, .verdict(.success)),
            (.resumed, .verdict(.success)):
            state = .accepted
            return .proceed
        case (.stopped, .verdict(.failure(let failure))):
            state = .refused(failure, from: .stopped)
            return .refuse(failure)
        case (.flightRead, .verdict(.failure(let failure))):
            state = .refused(failure, from: .flightRead)
            return .refuse(failure)
        case (.resumed, .verdict(.failure(let failure))):
            state = .refused(failure, from: .resumed)
            return .refuse(failure)
        case (.noChain, .wantsToSend), (.resumed, .wantsToSend), (.accepted, .wantsToSend),
            (.accepted, .chain), (.accepted, .resumedWithoutChain):
            return .proceed
        case (.refused(let failure, _), .chain), (.refused(let failure, _), .wantsToSend),
            (.refused(let failure, _), .resumedWithoutChain):
            return .refuse(failure)
        case (.stopped, .resumedWithoutChain), (.readingFlight, .chain),
            (.readingFlight, .resumedWithoutChain),
            (.flightRead, .chain), (.flightRead, .resumedWithoutChain), (.resumed, .chain),
            (.resumed, .resumedWithoutChain):
            // OpenSSL accepts only one chain in a handshake, so these events do not occur.
            return .refuse(.refused("the peer's chain came twice"))
        case (.noChain, .verdict), (.readingFlight, .verdict), (.accepted, .verdict), (.refused, .verdict):
            preconditionFailure("nobody has asked for an answer about trust")
        }
    }
}
