// SPDX-License-Identifier: MIT

package import LupineHTTP
package import LupineTLS

/// The only way up: where a connection reports what becomes of an exchange.
///
/// Every call comes on the loop of the connection, in order: interim heads, the head, content, the end. The end comes
/// exactly once, also without anything before it. Nothing here may block.
package protocol ExchangeSink: AnyObject, Sendable {
    /// A connection on `loop` carries the exchange from here on; the calls below come there. A replayed exchange is told
    /// again. With TLS, `evidence` is what the connection's handshake has shown.
    func begins(on loop: EventLoop, over evidence: PeerEvidence?)
    /// The connection that carried the exchange is gone, and the exchange is about to be sent again; what came of the
    /// first attempt.
    func willReplay(_ metrics: ExchangeMetrics)
    /// An interim (1xx) head; the final one follows.
    func receivedInterim(_ head: ResponseHead)
    /// The final head. The answer says what is to become of the content.
    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan
    /// Content, borrowed for the duration of the call. The answer is the back-pressure.
    func receivedContent(_ bytes: Span<UInt8>) -> Demand
    /// All that has come by now has been passed on, and there is more to come: a moment to hand on what was gathered, or
    /// to wake whoever waits for it. Not called before the head, nor where the sink paused or the exchange ended. The
    /// answer is the back-pressure.
    func caughtUp() -> Demand
    /// Content went straight to the file that the plan named; so many bytes of it.
    func spliced(_ count: Int) -> Demand
    /// So many bytes of the request's content have been given to the kernel, in all.
    func sentContent(_ total: Int64)
    /// The peer accepted CONNECT or 101: the connection is the caller's, or the stream of HTTP/2 that a web socket was asked for
    /// on.
    func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler
    /// It is over: trailers, or why not.
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
        // Nobody would ever close it.
        connection.close()
        return RefusedUpgrade()
    }
}

/// Whether the consumer can take more.
package enum Demand: Sendable {
    case more
    /// No more until `Exchange.resume()`; the connection stops reading.
    case pause
    /// No more at all: the exchange is over now, successfully. What is left of the body is skipped when it is short,
    /// so that the connection lives on.
    case enough
}

/// What is to become of a response's content.
package enum ContentPlan: Sendable {
    /// It goes to `receivedContent`.
    case deliver
    /// The same, after `Exchange.resume()`.
    case pause
    /// Nobody wants it: as `Demand.enough`.
    case skip
    /// It goes into the file from its position on, by the kernel alone where that is possible.
    case splice(into: FileTarget)
}

/// A file that content may be spliced into.
package final class FileTarget: Sendable {
    let descriptor: Descriptor

    /// Takes over a file that is open for writing; it closes with the last reference.
    package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Writes bytes at the file's position: for content that has to be looked at on its way, such as a decoder's.
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
