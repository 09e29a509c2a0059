// SPDX-License-Identifier: MIT

import Foundation

/// One delegate, cast to each delegate protocol. Casting is slow, so it happens once instead of at every call. A property is nil
/// if the delegate does not conform to its protocol.
final class DelegateSet: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let stream: (any URLSessionStreamDelegate)?
    let webSocket: (any URLSessionWebSocketDelegate)?

    /// Casts a delegate of a session or of a task.
    init(_ delegate: any URLSessionDelegate) {
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        download = delegate as? any URLSessionDownloadDelegate
        stream = delegate as? any URLSessionStreamDelegate
        webSocket = delegate as? any URLSessionWebSocketDelegate
    }

    /// The token of the object that decides whether servers are trusted (the judge); nil if the delegate is known to leave the
    /// decision to the default evaluation, because it does not implement the methods for challenges.
    var judge: ObjectToken? {
        if let selective = session as? any SelectiveDelegate {
            return selective.trustJudge.map { ObjectToken(of: $0) }
        }
        return ChallengeMethods.areMissing(
            in: ObjectIdentifier(type(of: session)), isTaskDelegate: task != nil)
            ? nil : ObjectToken(of: session)
    }

    /// Whether the delegate leaves the challenge of a server with this name to the task's own delegate.
    func defersServerTrust(ofHost host: String) -> Bool {
        if let deferring = session as? any ServerTrustDeferring {
            return deferring.defersServerTrust(ofHost: host)
        }
        // A delegate that implements no method for challenges leaves all of them to the default handling.
        return ChallengeMethods.areMissing(
            in: ObjectIdentifier(type(of: session)), isTaskDelegate: task != nil)
    }
}

/// A session delegate that declares which calls it does not need. Omitting such a call saves a job on the delegate queue.
package protocol SelectiveDelegate: URLSessionDelegate {
    /// Whether `urlSession(_:didCreateTask:)` does anything.
    var needsDidCreateTask: Bool { get }
    /// The object that decides whether servers are trusted: the delegate itself, or the object to which it delegates the
    /// decision. Nil if the session's configuration alone decides.
    var trustJudge: (any AnyObject & Sendable)? { get }
}
