// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTLS

/// The receiver of an exchange's events, and the only way in which a connection reports to the layer above.
///
/// Every method is called on the connection's loop, in order: interim heads, the head, content, the end. The end is reported
/// exactly once, possibly as the only call. No method may block.
package protocol ExchangeSink: AnyObject, Sendable {
    /// A connection on `loop` carries the exchange from now on, and the following methods are called there. Called again when an
    /// exchange is replayed. `evidence` is what the TLS handshake has established about both ends of the connection; nil without
    /// TLS.
    func begins(on loop: EventLoop, over evidence: PeerEvidence?)
    /// The connection that carried the exchange is lost, and the exchange is about to be sent again. `metrics` are those of
    /// the failed attempt.
    func willReplay(_ metrics: ExchangeMetrics)
    /// An interim (1xx) response head; the final one follows.
    func receivedInterim(_ head: ResponseHead)
    /// The final head. The return value says what to do with the content.
    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan
    /// Content, borrowed for the duration of the call. The return value applies back-pressure.
    func receivedContent(_ bytes: Span<UInt8>) -> Demand
    /// All content received so far has been delivered, and more is expected: the sink may deliver what it has buffered, or
    /// wake its reader. Not called before the head, nor after the sink paused or the exchange ended. The return value applies
    /// back-pressure.
    func caughtUp() -> Demand
    /// `count` bytes of content were written directly to the file that the plan named.
    func spliced(_ count: Int) -> Demand
    /// `total` bytes of the request's content have been given to the kernel so far.
    func sentContent(_ total: Int64)
    /// The peer accepted CONNECT or answered 101: the caller now owns the connection, or the HTTP/2 stream of a WebSocket.
    func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler
    /// The exchange has ended: with trailers, or with an error.
    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics)
}

extension ExchangeSink {
    package func begins(on loop: EventLoop, over evidence: PeerEvidence?) {}
    package func willReplay(_ metrics: ExchangeMetrics) {}
    package func receivedInterim(_ head: ResponseHead) {}
    package func caughtUp() -> Demand { .more }
    package func sentContent(_ total: Int64) {}
    package func spliced(_ count: Int) -> Demand { .more }
    package func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler {
        // No handler would ever close it.
        connection.close()
        return RefusedUpgrade()
    }
}

/// Whether the consumer can take more.
package enum Demand: Sendable {
    case more
    /// No more until `Exchange.resume()`. The connection stops reading.
    case pause
    /// No more at all: the exchange ends now, successfully. If little of the body remains, it is read and discarded, so that the
    /// connection can be reused.
    case enough
}

/// What to do with a response's content.
package enum ContentPlan: Sendable {
    /// Deliver it to `receivedContent`.
    case deliver
    /// Hold it back until `Exchange.resume()`, then deliver it.
    case pause
    /// Skip it, as with `Demand.enough`.
    case skip
    /// Write it into the file from its current position on, by the kernel alone where possible.
    case splice(into: FileTarget)
}

/// A file that content may be spliced into.
package final class FileTarget: Sendable {
    let descriptor: Descriptor

    /// Takes ownership of a file that is open for writing; it is closed when the last reference is released.
    package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Writes bytes at the file's position: for content that must be processed first, such as a decoder's output.
    package func write(_ bytes: Span<UInt8>) throws(TransportError) {
        var start = 0
        while start < bytes.count {
            do throws(Errno) {
                switch try descriptor.write(bytes.extracting(droppingFirst: start)) {
                case .bytes(let count): start += count
                case .wouldBlock: throw Errno.wouldBlock
                }
            } catch { throw .file(error) }
        }
    }
}
