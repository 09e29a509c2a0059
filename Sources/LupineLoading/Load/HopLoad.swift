// SPDX-License-Identifier: MIT

package import Foundation
import LupineTLS
import LupineTransport

/// One transaction of a task: a request that is sent somewhere and what comes back, without redirects, challenges or
/// caching, which are the driver's.
///
/// There is one kind for each place that answers: the network, a program's `URLProtocol`, `data:` and `file:`. Any
/// thread may call; nothing blocks.
protocol HopLoad: AnyObject, Sendable {
    /// Begins. Called once; may be called after `cancel`.
    func start()
    /// Ends the hop with `error` as soon as possible. The client still hears `hopEnded`, once. Harmless afterwards.
    func cancel(_ error: URLError)
    /// Goes on after the client has answered `.pause`. Harmless at any other time.
    func resumeReading()
    /// What comes after the next `resumeReading()` may go into the file, as with `.splice`; where it cannot, it goes to
    /// `hopReceived` as before.
    func save(into target: FileTarget)
    /// The rest of the content is not wanted: the hop ends as a success.
    func skip()
    /// While suspended no byte moves and no time-out but the resource's counts (U-6.4).
    func setSuspended(_ isSuspended: Bool)
    /// Orders hops that wait for a connection (U-9.14): 0...1.
    func setPriority(_ priority: Float)
    /// What TLS has shown about both ends of the connection that carries it, from its response on; nil without TLS.
    var evidence: PeerEvidence? { get }
}

extension HopLoad {
    var evidence: PeerEvidence? { nil }
    func save(into target: FileTarget) {}
}

/// What becomes of a response's content.
enum HopPlan: Sendable {
    /// It goes to `hopReceived`.
    case deliver
    /// The same, after `resumeReading()`.
    case pause
    /// Nobody wants it; the hop ends as a success.
    case skip
    /// It goes into the file, by the kernel alone where nothing decodes; `hopSpliced` says how much.
    case splice(into: FileTarget)
}

/// Who drives a hop. The calls of one hop never overlap; they come on any thread and must not block.
protocol HopLoadClient: AnyObject, Sendable {
    /// The request's body is to be sent, and it is a stream that only the client can supply (again).
    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void)
    /// So many bytes of the body have been handed to the socket, in all; -1 where the whole is not known.
    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64)
    /// An informational response (1xx).
    func hopInterim(_ hop: any HopLoad, _ response: HTTPURLResponse)
    /// The final response.
    ///
    /// - Parameter storagePolicy: Where it may be cached, as far as the source has a say.
    func hopResponse(_ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy)
        -> HopPlan
    /// Whether the chunks of a transfer coding are to come as pieces of their own (T-7); asked when the first one has come.
    func hopKeepsChunks(_ hop: any HopLoad) -> Bool
    /// A piece of the content, decoded; never empty, at most 64 KiB.
    func hopReceived(_ hop: any HopLoad, _ data: Data) -> Demand
    /// So many bytes went straight into the file of the plan.
    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand
    /// A protocol of the program's says that the load goes on elsewhere (U-17.6). The hop ends when the client skips it.
    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse)
    /// A question that the place itself asks: a protocol of the program's.
    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// The connection has left HTTP: a web socket's 101.
    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// It is over. Called once for every hop that was started or cancelled. The error is the program's own as it is, where code
    /// of the program's has failed, and else a `URLError` (U-16.4).
    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics)
}

extension HopLoadClient {
    func hopKeepsChunks(_ hop: any HopLoad) -> Bool { false }
}

/// A body stream on its way between threads: whoever holds it last reads it.
package typealias BodyStream = CallerValue<InputStream>
