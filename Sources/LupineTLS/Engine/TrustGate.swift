// SPDX-License-Identifier: MIT

/// The state machine of a client's connection from the arrival of the peer's chain to the verdict about it.
///
/// With TLS 1.3, OpenSSL stops when it has the chain. With TLS 1.2, the stapled response follows the chain (RFC 6066 §8), so
/// OpenSSL continues to the end of the server's flight, and the engine holds back OpenSSL's output until the verdict. A resumed
/// handshake has no chain: the owner judges the chain of the session before the client sends anything else.
struct TrustGate {
    enum State: Hashable {
        case noChain  // -> stopped, readingFlight, resumed
        case stopped  // -> accepted, refused; OpenSSL waits in its verification
        case readingFlight  // -> flightRead; OpenSSL reads on, because the staple may follow
        case flightRead  // -> accepted, refused; the server's flight is complete, output is held back
        case resumed  // -> accepted, refused; the chain of an earlier handshake
        case accepted
        case refused(TrustFailure, from: Refusal)
    }

    /// The state in which the chain was refused, which decides who sends the alert.
    enum Refusal: Hashable {
        case stopped  // OpenSSL, with an encrypted alert
        case flightRead  // the engine, with a plain alert: nothing of this side is encrypted yet
        case resumed  // no alert; the handshake is complete, and the connection is closed
    }

    enum Event {
        /// The peer's chain arrived; `includesStaple` is true with TLS 1.3.
        case chain(includesStaple: Bool)
        /// OpenSSL is about to send its next flight, or to choose the client certificate for it.
        case wantsToSend
        /// The handshake was complete before a chain arrived, because it resumes a session.
        case resumedWithoutChain
        /// The owner's verdict.
        case answer(Result<Void, TrustFailure>)
    }

    /// The answer to OpenSSL's callbacks.
    enum Advice: Hashable {
        case proceed
        case wait
        case refuse(TrustFailure)
    }

    private(set) var state = State.noChain

    /// Whether the handshake waits for the owner's verdict.
    var needsAnswer: Bool {
        switch state {
        case .stopped, .flightRead, .resumed: true
        case .noChain, .readingFlight, .accepted, .refused: false
        }
    }

    /// Whether only alerts may be sent.
    var allowsOnlyAlerts: Bool {
        switch state {
        case .readingFlight, .flightRead, .refused(_, from: .flightRead): true
        case .noChain, .stopped, .resumed, .accepted, .refused: false
        }
    }

    /// The only function that changes `state`.
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
        case (.stopped, .answer(.success)), (.flightRead, .answer(.success)), (.resumed, .answer(.success)):
            state = .accepted
            return .proceed
        case (.stopped, .answer(.failure(let failure))):
            state = .refused(failure, from: .stopped)
            return .refuse(failure)
        case (.flightRead, .answer(.failure(let failure))):
            state = .refused(failure, from: .flightRead)
            return .refuse(failure)
        case (.resumed, .answer(.failure(let failure))):
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
            // OpenSSL accepts only one chain in a handshake, so these do not occur.
            return .refuse(.refused("the peer's chain came twice"))
        case (.noChain, .answer), (.readingFlight, .answer), (.accepted, .answer), (.refused, .answer):
            preconditionFailure("nobody has asked for an answer about trust")
        }
    }
}
