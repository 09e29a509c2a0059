// SPDX-License-Identifier: MIT

internal import Synchronization

/// One check of an evaluator. Its case says on which threads the check may run.
package enum TrustCheck: Sendable, Hashable {
    /// Takes only CPU time: may run on any thread.
    case local(LocalTrustCheck)
    /// Waits for the network: runs on a worker.
    case fetching(RevocationCheck)
    /// Calls the program's closure, which may reply at any time.
    case custom(CustomTrustCheck)
}

/// A check that needs only a `PeerTrust`, and neither the network nor the program's code.
package enum LocalTrustCheck: Sendable, Hashable {
    /// The extent of a validation: the chain alone, or the chain and the host name.
    package enum Validation: Sendable, Hashable {
        case chain, chainAndHost
    }

    /// Makes these certificates the only anchors for all later checks. Always passes.
    case anchors(TrustAnchors)
    /// Requires what `TrustPolicy.server(host:)` requires: for the requested host with `chainAndHost`, for any host with `chain`.
    case validation(Validation)
    /// Requires that the chain contains one of these certificates.
    case certificatePins(Set<Certificate>)
    /// Requires that the chain contains one of these keys.
    case keyPins(Set<PublicKeyPin>)
    /// Checks revocation with stapled, supplied and cached answers.
    case revocation(RevocationCheck)

    /// Whether the check needs a path to an anchor, so that the roots have to be read. A check with an empty set of pins always
    /// fails, so it needs no path.
    var needsRoots: Bool {
        switch self {
        case .anchors: false
        case .validation, .revocation: true
        case .certificatePins(let pins): !pins.isEmpty
        case .keyPins(let pins): !pins.isEmpty
        }
    }
}

/// Anchors (trusted certificates) with their store, which is created once per evaluator.
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

/// An evaluation by a closure of the program; equal only to its copies.
public struct CustomTrustCheck: Sendable, Hashable {
    /// Receives the verdict; may be called on any thread.
    public typealias Reply = @Sendable (Result<Void, TrustFailure>) -> Void

    /// The program's closure. It is wrapped in a struct, because the compiler adds one more reabstraction thunk to a closure at
    /// each access if the closure is stored directly in a lock.
    private struct Evaluation {
        let ask: @Sendable (PeerTrust, @escaping Reply) -> Void
    }

    /// Contains the closure until `empty` removes it. So the caller of `empty` releases the closure, and not the thread that
    /// releases the last reference to the box.
    private final class Box: Sendable {
        private let lock: Mutex<Evaluation>

        init(_ evaluation: Evaluation) { lock = Mutex(evaluation) }

        var evaluation: Evaluation { lock.withLock { $0 } }

        func empty() {
            // The swap moves the program's closure into this variable, so that it is released after the lock has been unlocked.
            // The box then contains the placeholder, which is never called.
            var placeholder = Evaluation { _, reply in reply(.failure(.noCertificate)) }
            lock.withLock { swap(&$0, &placeholder) }
        }
    }

    /// Owns the box; all copies of a check share it. When the last copy is gone, a task empties the box.
    private final class Body: Sendable {
        let box: Box

        init(_ evaluation: Evaluation) { box = Box(evaluation) }

        // A connection may release the last reference on its event loop's thread. The closure may retain the program's objects,
        // whose deinitializers must not run on that thread, so a task releases the closure.
        deinit { Task.detached { [box] in box.empty() } }
    }

    private let body: Body

    init(_ closure: @escaping @Sendable (PeerTrust, @escaping Reply) -> Void) {
        body = Body(Evaluation(ask: closure))
    }

    /// Calls the closure with the trust and the function that receives its verdict.
    package func ask(about trust: PeerTrust, reply: @escaping Reply) { body.box.evaluation.ask(trust, reply) }

    public static func == (left: CustomTrustCheck, right: CustomTrustCheck) -> Bool {
        left.body === right.body
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(body)) }
}
