// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTLS

/// Receives the events of an exchange (one request with its response). A connection reports to the layer above only through it.
///
/// Every method is called on the connection's loop, in order: interim heads, the head, content, the end. `exchangeEnded` is
/// called exactly once, possibly as the only call. No method may block. While the exchange is being submitted, the submitting
/// thread may call `begins` and `sentContent` in place of the loop (`EventLoop.executeWhileIdle`).
package protocol ExchangeSink: AnyObject, Sendable {
    /// Called when a connection on `loop` begins the exchange, and again when the exchange is replayed. `evidence` is what the
    /// TLS handshake has shown about both ends of the connection; nil without TLS.
    func begins(on loop: EventLoop, over evidence: PeerEvidence?)
    /// Called when the connection was lost, before the exchange is sent again. `metrics` are those of the failed attempt.
    func willReplay(_ metrics: ExchangeMetrics)
    /// Called with each interim (1xx) response head; the final one follows.
    func receivedInterim(_ head: ResponseHead)
    /// Called with the final head. The return value says what the connection does with the content; it is ignored if an upgrade
    /// follows (`framing` is `.handover`).
    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan
    /// Called with content, which is borrowed for the duration of the call. The return value says whether the sink accepts more.
    func receivedContent(_ bytes: Span<UInt8>) -> Demand
    /// Called when all content received so far has been delivered, and more is expected later: the sink may deliver what it has
    /// buffered, or wake its reader. Not called before the head, nor after the sink has answered `.pause` or the exchange has
    /// ended. The return value says whether the sink accepts more.
    func inputExhausted() -> Demand
    /// Called when `count` bytes of content have been written to the file of the plan `.splice`. The return value says whether
    /// the sink accepts more.
    func spliced(_ count: Int) -> Demand
    /// Called when more of the request's content has been sent. `total` is the number of bytes sent so far.
    func sentContent(_ total: Int64)
    /// Called when the peer has accepted CONNECT or answered 101. The connection, or the HTTP/2 stream of a WebSocket, belongs to
    /// the returned handler from now on.
    func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler
    /// Called when the exchange has ended: with trailers, or with an error.
    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics)
}

extension ExchangeSink {
    package func begins(on loop: EventLoop, over evidence: PeerEvidence?) {}
    package func willReplay(_ metrics: ExchangeMetrics) {}
    package func receivedInterim(_ head: ResponseHead) {}
    package func inputExhausted() -> Demand { .more }
    package func sentContent(_ total: Int64) {}
    package func spliced(_ count: Int) -> Demand { .more }
    package func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler {
        // The default for sinks that never ask for an upgrade: they have no handler that could close the connection later.
        connection.close()
        return RefusedUpgrade()
    }
}

/// A consumer's answer to content: whether the consumer accepts more.
package enum Demand: Sendable {
    case more
    /// The consumer accepts no more until `Exchange.resume()`. The connection stops reading the exchange's content.
    case pause
    /// The consumer needs no more: the exchange ends successfully. If little of the content remains, the connection reads and
    /// discards it in order to stay usable.
    case enough
}

/// A sink's instruction to the connection for a response's content.
package enum ContentPlan: Sendable {
    /// Deliver it to `receivedContent`.
    case deliver
    /// Hold it back until `Exchange.resume()`, then deliver it.
    case pause
    /// Skip it, as with `Demand.enough`.
    case skip
    /// Write it into the file, from the file's current position on. Where possible, the kernel moves it without a copy.
    case splice(into: FileTarget)
}

/// A file that content may be spliced into.
package final class FileTarget: Sendable {
    let descriptor: Descriptor

    /// Takes ownership of a file that is open for writing. The file is closed when the last reference to this object is released.
    package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Writes bytes at the file's position: for content that must be processed first, such as a decoder's output.
    package func write(_ bytes: Span<UInt8>) throws(TransportError) {
        var start = 0
        while start < bytes.count {
            do throws(Errno) {
                switch try descriptor.write(bytes.extracting(droppingFirst: start)) {
                case .bytes(let count): start += count
                // A regular file never reports this. A non-blocking pipe or device does; the write then fails.
                case .wouldBlock: throw Errno.wouldBlock
                }
            } catch { throw .file(error) }
        }
    }
}
