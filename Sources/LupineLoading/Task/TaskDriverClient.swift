// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The client of a `TaskDriver` or another load: the task. A driver makes one call at a time, on any thread. The calls must not
/// block. The client calls each `reply` closure once, on any thread.
protocol TaskDriverClient: AnyObject, Sendable {
    /// The task object, which the program's `URLProtocol` classes receive.
    var driverTask: URLSessionTask { get }
    /// The task's `taskIdentifier`; nil if it has none.
    var driverIdentifier: Int? { get }
    /// The object that answers the challenges of connections. Nil if there is no delegate to answer, so that only the
    /// configuration decides.
    var challengedTask: (any ServerTrustChallenger)? { get }
    /// The delegates that decide whether a server is trusted when a connection is opened for the task, in the order in which they
    /// are asked. Empty if only the configuration decides.
    var driverJudges: [ObjectToken] { get }
    /// The credential that the program has set on the task to answer challenges; nil for none. The program may replace it at any
    /// time.
    var driverCredential: URLCredential? { get }
    /// Whether the client, when it receives a response, defers all calls of the program's code to the delegate queue. The driver
    /// may then deliver a cached response on the stack of the thread that starts the load.
    var driverDefersCallbacks: Bool { get }
    /// A hop begins: `request` becomes the task's current one.
    ///
    /// - Parameters:
    ///   - request: The request as the program sees it.
    ///   - authorization: The value of `Authorization` that answers a challenge and is not part of `request`; nil if none is
    ///     sent.
    func driverWillSend(_ request: URLRequest, authorization: String?)
    /// The load waits for connectivity. Called at most once.
    func driverWaitsForConnectivity()
    /// The response is a redirect. The client replies with `request`, or with another request of the program. If it replies with
    /// nil, the driver delivers the redirect itself as the response.
    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void)
    /// The driver follows the redirect: the next hop sends `request`.
    func driverFollowsRedirect(_ request: URLRequest)
    /// A server, a proxy or a program's `URLProtocol` has sent a challenge. The client replies with the answer.
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// A streamed upload needs its stream, for the first time or because the body has to be sent again.
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void)
    /// Reports how many bytes of the body the kernel has accepted. The total starts at 0 again when the body is sent again.
    /// `expected` is the length of the body; -1 if it is unknown.
    func driverSent(total: Int64, expected: Int64)
    /// An informational response (1xx) has arrived.
    func driverReceivedInterimResponse(_ response: HTTPURLResponse)
    /// The final response has arrived. Returns the plan, which says how the driver delivers the content.
    func driverReceivedResponse(_ response: URLResponse) -> HopPlan
    /// Whether the client wants each chunk of a chunked body (RFC 9112 §7.1) as a separate piece (T-7).
    var driverWantsSeparateChunks: Bool { get }
    /// Receives a piece of the content, never empty.
    func driverReceivedContent(_ data: Data) -> Demand
    /// Another `count` bytes of content have been written to the file of the plan.
    func driverSpliced(_ count: Int) -> Demand
    /// The response may be stored in the cache. The client replies with the response to store, or with nil to store nothing.
    /// Called only for data and upload tasks.
    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The connection has switched from HTTP to the WebSocket protocol. Returns the handler of the bytes that arrive.
    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler
    /// The load has ended. This is always the last call, and is made once. `error` is nil after a success. The metrics are
    /// complete.
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics)
}

extension TaskDriverClient {
    /// Reports that a hop begins, whose request contains no answer to a challenge.
    func driverWillSend(_ request: URLRequest) { driverWillSend(request, authorization: nil) }

    /// Nil: the program can set a credential only on a task.
    var driverCredential: URLCredential? { nil }

    var driverDefersCallbacks: Bool { false }

    var driverWantsSeparateChunks: Bool { false }
}
