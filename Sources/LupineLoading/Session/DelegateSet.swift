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
    /// The same, if it says what it need not be told.
    let selective: (any SelectiveDelegate)?

    /// A delegate of a session's or of a task's.
    init(_ delegate: any URLSessionDelegate) {
        session = delegate
        task = delegate as? any URLSessionTaskDelegate
        data = delegate as? any URLSessionDataDelegate
        download = delegate as? any URLSessionDownloadDelegate
        stream = delegate as? any URLSessionStreamDelegate
        webSocket = delegate as? any URLSessionWebSocketDelegate
        selective = delegate as? any SelectiveDelegate
    }

    /// Who judges the servers of its connections, as a token; nil where it is known that none of it does.
    var judge: ObjectToken? {
        if let selective { return selective.trustJudge.map { ObjectToken(of: $0) } }
        return ChallengeMethods.areMissing(
            in: ObjectIdentifier(type(of: session)), takesTaskCalls: task != nil)
            ? nil : ObjectToken(of: session)
    }
}

/// A session's delegate that says what it need not be told: a call that does nothing still takes its turn on the delegate queue.
package protocol SelectiveDelegate: URLSessionDelegate {
    /// Whether `urlSession(_:didCreateTask:)` does anything.
    var hearsOfNewTasks: Bool { get }
    /// Whether it is asked what is stored of a task's answer: else that is stored as it came. Asked on any thread, and no code of the
    /// program's runs meanwhile.
    func decidesWhatIsCached(of task: URLSessionTask) -> Bool
    /// What its answers about servers depend on: itself, or what it leaves them to; nil where it always leaves them to the
    /// configuration.
    var trustJudge: (any AnyObject & Sendable)? { get }
}
