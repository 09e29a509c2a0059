// SPDX-License-Identifier: MIT

package import Foundation
import LupineTLS
import LupineTransport

/// Carries out one hop of a task: a request with its response. The driver follows redirects, answers challenges and uses the
/// cache.
///
/// There is one implementation for each source of responses: the network, a program's `URLProtocol`, `data:` URLs and `file:`
/// URLs. All methods may be called on any thread, and none blocks.
protocol HopLoad: AnyObject, Sendable {
    /// Starts the hop. Called once. If `cancel` has been called before, the hop ends with the error of that call.
    func start()
    /// Ends the hop with `error` as soon as possible. The client still receives `hopEnded`, once. No effect after the end.
    func cancel(_ error: URLError)
    /// Resumes after the client has returned `.pause`. No effect at any other time.
    func resumeReading()
    /// Directs the content after the next `resumeReading()` into the file, as the plan `.splice` does. If the load cannot do
    /// that, the content still goes to `hopReceivedContent`.
    func save(into target: FileTarget)
    /// Discards the rest of the content. The hop then ends successfully.
    func skip()
    /// Suspends or resumes the hop. A suspended hop sends and receives nothing. Of its time-outs, only the resource time-out runs
    /// meanwhile (U-6.4).
    func setSuspended(_ isSuspended: Bool)
    /// Sets the priority, 0...1, among the hops that wait for a connection (U-9.14).
    func setPriority(_ priority: Float)
    /// What the TLS handshake has shown about both ends of the connection. Set when the response arrives; nil without TLS.
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
    /// The content goes to `hopReceivedContent`, but only after `resumeReading()`.
    case pause
    /// The content is discarded, and the hop ends successfully.
    case skip
    /// The content goes into the file. If nothing has to be decoded, the kernel moves it there. `hopSpliced` reports the byte
    /// counts.
    case splice(into: FileTarget)
}

/// The client of a `HopLoad`: the driver of the task. A hop makes one call at a time, on any thread. The calls must not block.
/// The client calls each `reply` closure once, on any thread.
protocol HopLoadClient: AnyObject, Sendable {
    /// Asks for the stream of a body that only the client can supply. Called each time the body is sent.
    func hopNeedsBodyStream(_ hop: any HopLoad, reply: @escaping @Sendable (BodyStream?) -> Void)
    /// Reports how many bytes of the body the kernel has accepted in all. `expected` is the length of the body; -1 if it is
    /// unknown.
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
    /// Whether the client wants each chunk of a chunked body (RFC 9112 §7.1) as a separate piece (T-7). Called when the first
    /// chunk has arrived.
    func hopWantsSeparateChunks(_ hop: any HopLoad) -> Bool
    /// Receives a piece of the decoded content: never empty, at most 64 KiB.
    func hopReceivedContent(_ hop: any HopLoad, _ data: Data) -> Demand
    /// Reports that another `count` bytes have been written to the file of the plan.
    func hopSpliced(_ hop: any HopLoad, _ count: Int) -> Demand
    /// A program's `URLProtocol` has reported a redirect to `request` (U-17.6). The hop ends when the client calls `skip()`.
    func hopRedirected(_ hop: any HopLoad, to request: URLRequest, response: URLResponse)
    /// A program's `URLProtocol` has reported a challenge. The reply is the answer to it.
    func hopChallenged(
        _ hop: any HopLoad, _ challenge: URLAuthenticationChallenge,
        reply: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    /// The connection has switched from HTTP to another protocol, as a web socket does after a 101 response. Returns the handler
    /// of the bytes that arrive.
    func hopUpgraded(_ hop: any HopLoad, _ connection: UpgradedConnection, _ response: HTTPURLResponse)
        -> any UpgradeHandler
    /// The hop has ended. Called once for each hop that was started or cancelled. `error` is nil after a success. An error of the
    /// program's code is passed on unchanged; any other error is a `URLError` (U-16.4).
    func hopEnded(_ hop: any HopLoad, _ error: (any Error)?, _ metrics: HopMetrics)
}

extension HopLoadClient {
    func hopWantsSeparateChunks(_ hop: any HopLoad) -> Bool { false }
}

/// A body stream that is passed between threads. Only the thread or queue that receives it last reads it.
package typealias BodyStream = UncheckedSendable<InputStream>
