// SPDX-License-Identifier: MIT

/// The state of a client's connection between receiving the peer's chain and the verdict about it. Pure.
///
/// With TLS 1.3 OpenSSL stops at the chain. With TLS 1.2 the stapled response follows the chain (RFC 6066 §8), so OpenSSL reads
/// on to the end of the server's flight, and its output is held back until the verdict. A resumed handshake has no chain: that of
/// the session is judged before anything else is sent.
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
        case chain(comesWithStaple: Bool)
        case wantsToAnswer
        case resumedWithoutChain
        case answer(Result<Void, TrustFailure>)
    }

    /// The answer to OpenSSL's callbacks.
    enum Advice: Hashable {
        case proceed
        case wait
        case refuse(TrustFailure)
    }

    private(set) var state = State.noChain

    /// Whether the owner has to answer before the handshake can continue.
    var isAsking: Bool {
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
        case (.noChain, .chain(comesWithStaple: true)):
            state = .stopped
            return .wait
        case (.noChain, .chain(comesWithStaple: false)):
            state = .readingFlight
            return .proceed
        case (.noChain, .resumedWithoutChain):
            state = .resumed
            return .wait
        case (.readingFlight, .wantsToAnswer):
            state = .flightRead
            return .wait
        case (.stopped, .chain), (.stopped, .wantsToAnswer), (.flightRead, .wantsToAnswer): return .wait
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
        case (.noChain, .wantsToAnswer), (.resumed, .wantsToAnswer), (.accepted, .wantsToAnswer),
            (.accepted, .chain), (.accepted, .resumedWithoutChain):
            return .proceed
        case (.refused(let failure, _), .chain), (.refused(let failure, _), .wantsToAnswer),
            (.refused(let failure, _), .resumedWithoutChain):
            return .refuse(failure)
        case (.stopped, .resumedWithoutChain), (.readingFlight, .chain),
            (.readingFlight, .resumedWithoutChain),
            (.flightRead, .chain), (.flightRead, .resumedWithoutChain), (.resumed, .chain),
            (.resumed, .resumedWithoutChain):
            // A second chain in one handshake, which OpenSSL does not let happen.
            return .refuse(.refused("the peer's chain came twice"))
        case (.noChain, .answer), (.readingFlight, .answer), (.accepted, .answer), (.refused, .answer):
            preconditionFailure("nobody has asked for an answer about trust")
        }
    }
}
