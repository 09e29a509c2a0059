// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The client of a driver: the task. The calls of one driver never overlap. They come on any thread, and must not block. The
/// client calls each `reply` once, on any thread.
protocol TaskDriverClient: AnyObject, Sendable {
    /// The task object, with which the program's `URLProtocol`s are created.
    var driverTask: URLSessionTask { get }
    /// The task's `taskIdentifier`; nil if it has none.
    var driverIdentifier: Int? { get }
    /// Answers the challenges of connections; nil if no delegate would answer, so that the configuration alone decides.
    var challengedTask: (any ServerTrustChallenger)? { get }
    /// The delegates that judge servers when a connection is opened for the task, in the order in which they are asked; empty if
    /// the configuration alone decides.
    var driverJudges: [ObjectToken] { get }
    /// The credential that the program has set on the task to answer challenges; nil for none. The program may replace it at any
    /// time.
    var driverCredential: URLCredential? { get }
    /// Whether the client calls no code of the program's when it receives a response, but defers that to the delegate queue. The
    /// driver may then deliver a response from memory in the stack of the thread that started the load.
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
    /// The response is a redirect. The client replies with `request`, with the program's replacement for it, or with nil to get
    /// the redirect itself delivered.
    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void)
    /// The driver follows the redirect: the next hop sends `request`.
    func driverFollowsRedirect(_ request: URLRequest)
    /// A server, a proxy or a program's `URLProtocol` has sent a challenge.
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// A streamed upload needs its stream, for the first time or because the body has to be sent again.
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void)
    /// Reports how many bytes of the body have been handed to the socket in this transmission. `expected` is -1 if the length is
    /// unknown.
    func driverSent(total: Int64, expected: Int64)
    /// An informational response (1xx) has arrived.
    func driverReceivedInterimResponse(_ response: HTTPURLResponse)
    /// The final response has arrived. The returned plan says how the driver delivers its content.
    func driverReceivedResponse(_ response: URLResponse) -> HopPlan
    /// Whether the client wants each chunk of the transfer coding as a separate piece (T-7).
    var driverWantsSeparateChunks: Bool { get }
    /// Receives a piece of the content, never empty.
    func driverReceivedContent(_ data: Data) -> Demand
    /// `count` bytes of content went directly into the file of the plan.
    func driverSpliced(_ count: Int) -> Demand
    /// The response may be stored in the cache. The client replies with the response to store, or with nil to store nothing.
    /// Called only for data and upload tasks.
    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The connection has switched from HTTP (web sockets only).
    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler
    /// The load has ended. Always called, once, as the last call. The metrics are complete.
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics)
}

extension TaskDriverClient {
    /// A hop begins whose request answers no challenge.
    func driverWillSend(_ request: URLRequest) { driverWillSend(request, authorization: nil) }

    /// Nil: the program can set a credential only on a task.
    var driverCredential: URLCredential? { nil }

    var driverDefersCallbacks: Bool { false }

    var driverWantsSeparateChunks: Bool { false }
}
