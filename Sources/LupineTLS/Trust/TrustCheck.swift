// SPDX-License-Identifier: MIT

internal import Synchronization

/// One step of an evaluator, told apart by where it may run.
package enum TrustCheck: Sendable, Hashable {
    /// CPU time alone: on any thread.
    case local(LocalTrustCheck)
    /// Waits for the network: on a worker.
    case fetching(RevocationCheck)
    /// The caller's closure, which replies when it likes.
    case custom(CustomTrustCheck)
}

/// A step that needs nothing but the peer's trust.
package enum LocalTrustCheck: Sendable, Hashable {
    /// What is validated.
    package enum Validation: Sendable, Hashable {
        case chain, chainAndHost
    }

    /// These certificates become the only anchors, for this step's successors too.
    case anchors(TrustAnchors)
    /// The server policy.
    case validation(Validation)
    /// One of the chain's certificates is among these.
    case certificatePins(Set<Certificate>)
    /// One of the chain's keys is among these.
    case keyPins(Set<PublicKeyPin>)
    /// Revocation by what is stapled, given or kept.
    case revocation(RevocationCheck)

    /// Whether a path to an anchor is built for it.
    var asksForRoots: Bool {
        switch self {
        case .anchors: false
        case .validation, .revocation: true
        case .certificatePins(let pins): !pins.isEmpty
        case .keyPins(let pins): !pins.isEmpty
        }
    }
}

/// Anchors with the store that is made of them, once per evaluator.
package struct TrustAnchors: Sendable, Hashable {
    /// Which they are.
    package let certificates: [Certificate]
    /// The store that trusts them and nothing else.
    package let store: TrustStore

    init(_ certificates: [Certificate]) {
        self.certificates = certificates
        store = TrustStore(anchors: certificates)
    }

    package static func == (left: TrustAnchors, right: TrustAnchors) -> Bool {
        left.certificates == right.certificates
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(certificates) }
}

/// A caller's own evaluation; equal to its copies and to nothing else.
public struct CustomTrustCheck: Sendable, Hashable {
    /// Takes the verdict; it may be called on any thread.
    public typealias Reply = @Sendable (Result<Void, TrustFailure>) -> Void

    /// What the program does to judge a peer. In a struct: a closure that is itself the value of a lock is wrapped once
    /// more by each look at it.
    private struct Evaluation {
        let ask: @Sendable (PeerTrust, @escaping Reply) -> Void
    }

    /// Holds the closure, until whoever ends it has taken it out: then it does not matter who lets go of the box last.
    private final class Box: Sendable {
        private let lock: Mutex<Evaluation>

        init(_ evaluation: Evaluation) { lock = Mutex(evaluation) }

        var evaluation: Evaluation { lock.withLock { $0 } }

        func empty() {
            var gone = Evaluation { _, reply in reply(.failure(.noCertificate)) }
            lock.withLock { swap(&$0, &gone) }
        }
    }

    private final class Body: Sendable {
        let box: Box

        init(_ evaluation: Evaluation) { box = Box(evaluation) }

        // The last to hold it may be a connection, on its event loop; what the closure holds is the program's.
        deinit { Task.detached { [box] in box.empty() } }
    }

    private let body: Body

    init(_ closure: @escaping @Sendable (PeerTrust, @escaping Reply) -> Void) {
        body = Body(Evaluation(ask: closure))
    }

    /// Asks for the verdict.
    package func ask(about trust: PeerTrust, reply: @escaping Reply) { body.box.evaluation.ask(trust, reply) }

    public static func == (left: CustomTrustCheck, right: CustomTrustCheck) -> Bool {
        left.body === right.body
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(body)) }
}
