// SPDX-License-Identifier: MIT

import Foundation

/// A delegate and the delegate protocols that it conforms to, looked up once instead of at every call.
final class DelegateSet: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let stream: (any URLSessionStreamDelegate)?
    let webSocket: (any URLSessionWebSocketDelegate)?

    /// Looks up the protocols of a delegate of a session or of a task.
    init(_ delegate: any URLSessionDelegate) {
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        download = delegate as? any URLSessionDownloadDelegate
        stream = delegate as? any URLSessionStreamDelegate
        webSocket = delegate as? any URLSessionWebSocketDelegate
    }

    /// The token of the object that decides whether servers are trusted; nil if the delegate is known not to decide.
    var judge: ObjectToken? {
        if let selective = session as? any SelectiveDelegate {
            return selective.trustJudge.map { ObjectToken(of: $0) }
        }
        return ChallengeMethods.areMissing(
            in: ObjectIdentifier(type(of: session)), isTaskDelegate: task != nil)
            ? nil : ObjectToken(of: session)
    }
}

/// A session delegate that declares which calls it does not need. Skipping a call without effect saves a job on the delegate
/// queue.
package protocol SelectiveDelegate: URLSessionDelegate {
    /// Whether `urlSession(_:didCreateTask:)` does anything.
    var needsDidCreateTask: Bool { get }
    /// The object that decides whether servers are trusted: the delegate itself, or the object that it leaves the decision to.
    /// Nil if it always leaves the decision to the configuration.
    var trustJudge: (any AnyObject & Sendable)? { get }
}
