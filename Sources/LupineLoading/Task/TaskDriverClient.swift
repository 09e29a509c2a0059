// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The client of a driver: the task. The calls of one driver never overlap; they are made on any thread and must not block.
/// Questions are answered once, from any thread.
protocol TaskDriverClient: AnyObject, Sendable {
    /// The task as the program knows it, with which the program's `URLProtocol`s are created.
    var driverTask: URLSessionTask { get }
    /// The task's number in its session; nil for none.
    var driverIdentifier: Int? { get }
    /// Answers the challenges of connections; nil if no delegate would answer, so that the configuration alone decides.
    var challengedTask: (any ServerTrustChallenger)? { get }
    /// The objects that decide about servers when a connection is opened for the task, in the order in which they are asked;
    /// empty if the configuration alone decides.
    var driverJudges: [ObjectToken] { get }
    /// The credential that the task was given to answer challenges with; nil for none. It may be replaced at any time.
    var driverCredential: URLCredential? { get }
    /// Whether the client only queues what it is told of a response: a response in memory may then be delivered in the stack of
    /// the thread that started the load.
    var driverDefersCallbacks: Bool { get }
    /// A hop begins: its request is the task's current one from here on.
    ///
    /// - Parameter authorization: The value of `Authorization` that is sent as the answer to a challenge, which the request
    ///   does not show.
    func driverWillSend(_ request: URLRequest, authorization: String?)
    /// There is no connectivity yet; called once.
    func driverWaitsForConnectivity()
    /// A redirect. `reply` takes the proposed request, or the program's replacement for it; nil delivers the redirect itself.
    func driverWillRedirect(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void)
    /// The redirect to this request is followed.
    func driverFollowsRedirect(_ request: URLRequest)
    /// A challenge of any kind.
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// A streamed upload needs its stream, for the first time or again.
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void)
    /// Reports the body bytes handed to the socket in this transmission: all so far, and the expected total or -1.
    func driverSent(total: Int64, expected: Int64)
    /// An informational response.
    func driverReceivedInterimResponse(_ response: HTTPURLResponse)
    /// The final response. The returned plan says how its content is consumed.
    func driverReceivedResponse(_ response: URLResponse) -> HopPlan
    /// Whether the chunks of the transfer coding are delivered as pieces of their own.
    var driverWantsSeparateChunks: Bool { get }
    /// A piece of the content, never empty.
    func driverReceivedContent(_ data: Data) -> Demand
    /// `count` bytes went directly into the file.
    func driverSpliced(_ count: Int) -> Demand
    /// A response that may be cached. `reply` takes what is to be stored, or nil for nothing. Called only for tasks whose
    /// responses are stored.
    func driverWillCache(
        _ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The connection has switched from HTTP (web sockets only).
    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler
    /// The load has ended; always called, once. The metrics are complete.
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics)
}

extension TaskDriverClient {
    /// A hop begins that answers no challenge.
    func driverWillSend(_ request: URLRequest) { driverWillSend(request, authorization: nil) }

    /// Nil: only a task is given a credential.
    var driverCredential: URLCredential? { nil }

    var driverDefersCallbacks: Bool { false }

    var driverWantsSeparateChunks: Bool { false }
}
