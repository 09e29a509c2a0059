// SPDX-License-Identifier: MIT

import Foundation

/// A delegate and all that it can be asked: whether it conforms to a protocol is looked up once, not at every call.
final class DelegateSet: Sendable {
    let session: any URLSessionDelegate
    let task: (any URLSessionTaskDelegate)?
    let data: (any URLSessionDataDelegate)?
    let download: (any URLSessionDownloadDelegate)?
    let stream: (any URLSessionStreamDelegate)?
    let webSocket: (any URLSessionWebSocketDelegate)?

    /// A delegate of a session's or of a task's.
    init(_ delegate: any URLSessionDelegate) {
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        download = delegate as? any URLSessionDownloadDelegate
        stream = delegate as? any URLSessionStreamDelegate
        webSocket = delegate as? any URLSessionWebSocketDelegate
    }

    /// Who judges the servers of its connections, as a token; nil where it is known that none of it does.
    var judge: ObjectToken? {
        if let selective = session as? any SelectiveDelegate {
            return selective.trustJudge.map { ObjectToken(of: $0) }
        }
        return ChallengeMethods.areMissing(
            in: ObjectIdentifier(type(of: session)), takesTaskCalls: task != nil)
            ? nil : ObjectToken(of: session)
    }
}

/// A session's delegate that says what it need not be told: a call that does nothing still takes its turn on the delegate queue.
package protocol SelectiveDelegate: URLSessionDelegate {
    /// Whether `urlSession(_:didCreateTask:)` does anything.
    var hearsOfNewTasks: Bool { get }
    /// What its answers about servers depend on: itself, or what it leaves them to; nil where it always leaves them to the
    /// configuration.
    var trustJudge: (any AnyObject & Sendable)? { get }
}
