// SPDX-License-Identifier: MIT

package import Foundation
import LupineTLS
import LupineTransport

/// Carries out one hop of a task: a request and its response. The driver handles redirects, challenges and caching.
///
/// There is one implementation for each source: the network, a program's `URLProtocol`, `data:` and `file:`. Any thread may call;
/// no method blocks.
protocol HopLoad: AnyObject, Sendable {
    /// Starts the hop. Called once. After `cancel`, the hop ends with the error of that call.
    func start()
    /// Ends the hop with `error` as soon as possible. The client gets `hopEnded` once, as always. No effect after the end.
    func cancel(_ error: URLError)
    /// Resumes after the client has returned `.pause`. No effect at any other time.
    func resumeReading()
    /// Directs the content after the next `resumeReading()` into the file, as with `.splice`. If the load cannot do that, the
    /// content still goes to `hopReceivedContent`.
    func save(into target: FileTarget)
    /// Discards the rest of the content: the hop ends successfully.
    func skip()
    /// Suspends or resumes the hop. A suspended hop sends and receives nothing, and of its time-outs only that for the resource
    /// runs (U-6.4).
    func setSuspended(_ isSuspended: Bool)
    /// Sets the priority, 0...1, among the hops that wait for a connection (U-9.14).
    func setPriority(_ priority: Float)
    /// The results of the TLS handshake about both ends of the connection. Set when the response arrives; nil without TLS.
    var evidence: PeerEvidence? { get }
}

extension HopLoad {
    var evidence: PeerEvidence? { nil }
    func save(into target: FileTarget) {}
}

/// The client's plan for the content of a response.
enum HopPlan: Sendable {
    /// The content goes to `hopReceivedContent`.
    case deliver
    /// As `deliver`, but only after `resumeReading()`.
    case pause
    /// The content is discarded; the hop ends successfully.
    case skip
    /// The content goes into the file, by the kernel alone if nothing has to be decoded; `hopSpliced` reports the byte counts.
    case splice(into: FileTarget)
}

/// The client of a `HopLoad`: the driver. The calls of one hop never overlap. They come on any thread, and must not block. The
/// client calls each `reply` once, on any thread.
protocol HopLoadClient: AnyObject, Sendable {
    /// Asks for a stream of the request's body, for the first time or again; only the client can supply it.
    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void)
    /// Reports how many bytes of the body have been handed to the socket in all. `expected` is -1 if the length is unknown.
    func hopSent(_ hop: any HopLoad, total: Int64, expected: Int64)
    /// An informational response (1xx) has arrived.
    func hopReceivedInterimResponse(_ hop: any HopLoad, _ response: HTTPURLResponse)
    /// The final response has arrived.
    ///
    /// - Parameters:
    ///   - hop: The calling load.
    ///   - response: The response.
    ///   - storagePolicy: Where the source allows the response to be stored.
    /// - Returns: The plan for the response's content.
    func hopReceivedResponse(
        _ hop: any HopLoad, _ response: URLResponse, storagePolicy: URLCache.StoragePolicy
    )
        -> HopPlan
    /// Whether the client wants each chunk of the transfer coding as a separate piece (T-7). Called when the first chunk has
    /// arrived.
    func hopWantsSeparateChunks(_ hop: any HopLoad) -> Bool
    /// Receives a piece of the decoded content: never empty, at most 64 KiB.
    func hopReceivedContent(_ hop: any HopLoad, _ data: Data) -> Demand
    /// Reports that `count` bytes went directly into the file of the plan.
    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand
    /// A program's `URLProtocol` reports a redirect (U-17.6). The hop ends when the client calls `skip()`.
    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse)
    /// A program's `URLProtocol` reports a challenge.
    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// The connection has switched from HTTP to another protocol, as by a web socket's 101. Returns the handler of the bytes that
    /// arrive.
    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// The hop has ended. Called once for each hop that was started or cancelled. An error of the program's code is passed on
    /// unchanged; any other error is a `URLError` (U-16.4).
    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics)
}

extension HopLoadClient {
    func hopWantsSeparateChunks(_ hop: any HopLoad) -> Bool { false }
}

/// A body stream that is passed between threads. Only its last owner reads it.
package typealias BodyStream = UncheckedSendable<InputStream>
