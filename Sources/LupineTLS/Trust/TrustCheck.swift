// SPDX-License-Identifier: MIT

internal import Synchronization

/// One step of an evaluator, classified by where it may run.
package enum TrustCheck: Sendable, Hashable {
    /// Takes only CPU time: may run on any thread.
    case local(LocalTrustCheck)
    /// Waits for the network: runs on a worker.
    case fetching(RevocationCheck)
    /// Calls the program's closure, which may reply at any time.
    case custom(CustomTrustCheck)
}

/// A step that needs only a `PeerTrust`.
package enum LocalTrustCheck: Sendable, Hashable {
    /// The extent of a validation.
    package enum Validation: Sendable, Hashable {
        case chain, chainAndHost
    }

    /// Makes these certificates the only anchors, for later steps too.
    case anchors(TrustAnchors)
    /// Evaluates the server policy.
    case validation(Validation)
    /// Requires that the chain contains one of these certificates.
    case certificatePins(Set<Certificate>)
    /// Requires that the chain contains one of these keys.
    case keyPins(Set<PublicKeyPin>)
    /// Checks revocation with stapled, supplied and cached answers.
    case revocation(RevocationCheck)

    /// Whether the step needs a path to an anchor. Empty pins fail without one.
    var needsRoots: Bool {
        switch self {
        case .anchors: false
        case .validation, .revocation: true
        case .certificatePins(let pins): !pins.isEmpty
        case .keyPins(let pins): !pins.isEmpty
        }
    }
}

/// Anchors with their store, which is created once per evaluator.
package struct TrustAnchors: Sendable, Hashable {
    /// The anchors.
    package let certificates: [Certificate]
    /// The store that trusts only them.
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

/// A caller's own evaluation; equal only to its copies.
public struct CustomTrustCheck: Sendable, Hashable {
    /// Receives the verdict; may be called on any thread.
    public typealias Reply = @Sendable (Result<Void, TrustFailure>) -> Void

    /// The program's evaluation of a peer. A struct, because a closure stored directly in a lock gets one more reabstraction
    /// thunk at each access.
    private struct Evaluation {
        let ask: @Sendable (PeerTrust, @escaping Reply) -> Void
    }

    /// Holds the closure until `empty` removes it, so that the caller of `empty` releases the closure, and not the thread that
    /// happens to release the box last.
    private final class Box: Sendable {
        private let lock: Mutex<Evaluation>

        init(_ evaluation: Evaluation) { lock = Mutex(evaluation) }

        var evaluation: Evaluation { lock.withLock { $0 } }

        func empty() {
            // The closure moves into `removed`, and is released after the lock. The box keeps a closure that is never called.
            var removed = Evaluation { _, reply in reply(.failure(.noCertificate)) }
            lock.withLock { swap(&$0, &removed) }
        }
    }

    /// Shared by the copies of a check; its end empties the box.
    private final class Body: Sendable {
        let box: Box

        init(_ evaluation: Evaluation) { box = Box(evaluation) }

        // A connection may release the last reference, on its event loop. The closure may hold the program's objects, whose
        // deinitializers must not run there, so a task releases it.
        deinit { Task.detached { [box] in box.empty() } }
    }

    private let body: Body

    init(_ closure: @escaping @Sendable (PeerTrust, @escaping Reply) -> Void) {
        body = Body(Evaluation(ask: closure))
    }

    /// Calls the closure.
    package func ask(about trust: PeerTrust, reply: @escaping Reply) { body.box.evaluation.ask(trust, reply) }

    public static func == (left: CustomTrustCheck, right: CustomTrustCheck) -> Bool {
        left.body === right.body
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(body)) }
}
