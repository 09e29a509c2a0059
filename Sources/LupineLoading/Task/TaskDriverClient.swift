// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// What a task is to do: fixed when it is created.
struct TaskOrder: Sendable {
    /// What sort of task it is; the rules differ in places.
    enum Kind: Hashable, Sendable { case data, upload, download, webSocket }
    /// Where the request's body comes from.
    enum Body: Sendable {
        /// From the request: its `httpBody` or `httpBodyStream`.
        case request
        /// An upload task's data, in the place of any body of the request's.
        case data(Data)
        /// An upload task's file.
        case file(URL)
        /// An upload task's stream, which the delegate is asked for each time that it is needed (U-7.5).
        case streamed
    }

    let kind: Kind
    let request: URLRequest
    let body: Body
    /// When the task was created.
    var created = Date()
    /// Whether content codings are undone; a download that is resumed takes the bytes as they come (U-9.11).
    var mayDecode = true
    /// Whether a response to a request for the rest of a download is of something else: the request then goes out once more,
    /// for the whole.
    var mustStartOver: (@Sendable (HTTPURLResponse) -> Bool)?
    /// Gives the request of each hop what belongs to that hop alone, last of all: a web socket's handshake.
    var dress: (@Sendable (inout URLRequest) -> Void)?
}

/// Whom a driver works for: the task. The calls of one driver never overlap; they come on any thread and must not block.
/// Questions are answered once, from any thread.
protocol TaskDriverClient: AnyObject, Sendable {
    /// The task as the program knows it: protocols of the program's are made for it.
    var driverTask: URLSessionTask { get }
    /// The task's number in its session; nil for none.
    var driverIdentifier: Int? { get }
    /// Who is asked about connections; nil where nobody would answer, so that the configuration alone decides.
    var driverAsker: (any ServerTrustAsker)? { get }
    /// Who judges servers when a connection is opened for the task, in the order in which they are asked; none where the
    /// configuration alone decides.
    var driverJudges: [ObjectToken] { get }
    /// What the task was handed to answer challenges with; nil for nothing. It may be replaced at any time.
    var driverCredential: URLCredential? { get }
    /// Whether it only puts on a queue what an answer says: then one that lies in memory may be told in the stack of whoever began.
    var driverOnlyQueues: Bool { get }
    /// A hop begins: the request that is sent is the task's current one from here on.
    ///
    /// - Parameter authorization: What goes out in `Authorization` as the answer to a challenge, which the request does not show.
    func driverSends(_ request: URLRequest, authorization: String?)
    /// There is no way to the network yet; asked for once.
    func driverWaitsForConnectivity()
    /// A redirect: the proposed request, or what the program makes of it; nil delivers the redirect itself.
    func driverRedirects(
        _ response: HTTPURLResponse, to request: URLRequest, reply: @escaping @Sendable (URLRequest?) -> Void)
    /// A redirect is followed: to this request.
    func driverFollows(_ request: URLRequest)
    /// A challenge of any kind.
    func driverChallenged(
        _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// A streamed upload needs its stream (again).
    func driverNeedsBodyStream(reply: @escaping @Sendable (BodyStream?) -> Void)
    /// Body bytes handed to the socket in this transmission: all so far, and how many there will be or -1.
    func driverSent(total: Int64, expected: Int64)
    /// An informational response.
    func driverInterim(_ response: HTTPURLResponse)
    /// The final response: the answer says at once how its content flows.
    func driverResponse(_ response: URLResponse) -> HopPlan
    /// Whether the chunks of a transfer coding are to come as pieces of their own.
    var driverKeepsChunks: Bool { get }
    /// A piece of the content, never empty.
    func driverReceived(_ data: Data) -> Demand
    /// So many bytes went straight into the file.
    func driverSpliced(_ count: Int) -> Demand
    /// A response that may be cached: what is to be stored, or nil for nothing. Only asked for tasks that want to be.
    func driverCaches(_ proposal: CachedURLResponse, reply: @escaping @Sendable (CachedURLResponse?) -> Void)
    /// The connection has left HTTP (web sockets only).
    func driverUpgraded(_ connection: UpgradedConnection, _ response: HTTPURLResponse) -> any UpgradeHandler
    /// It is over; once, always. The metrics are complete.
    func driverEnded(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics)
}

extension TaskDriverClient {
    /// A hop begins that answers no challenge.
    func driverSends(_ request: URLRequest) { driverSends(request, authorization: nil) }

    /// Nothing: only a task is handed any.
    var driverCredential: URLCredential? { nil }

    var driverOnlyQueues: Bool { false }

    var driverKeepsChunks: Bool { false }
}
