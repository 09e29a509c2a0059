// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTransport

/// What a stream task's bytes come from and go to: a connection, or the content of a response. All calls on its loop.
///
/// Nothing is read ahead of who reads. Whoever is its handler looks again for bytes, and for room, when it hears that there
/// may be some.
protocol StreamWire: AnyObject {
    var handler: (any RawConnectionHandler)? { get set }
    /// The peer has said that it sends no more; what it has sent may still be there to be read.
    var peerIsClosing: Bool { get }
    /// Reads over the beginning of `buffer`, which must not be empty.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome
    /// Sends the beginning of `bytes`, as much as goes.
    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome
    /// Whether all that was sent has gone to the kernel.
    func flush() throws(StreamFault) -> Bool
    /// Ends our half behind what was sent.
    func closeWriting()
    /// Speaks TLS from here on; the handler hears how that went.
    func startTLS()
    /// Closes behind the end of both halves, so that the peer gets what was sent. The handler hears no more.
    func closeGently()
    /// Closes at once. The handler hears no more.
    func close()
}

/// A connection to a host, with what TLS on it needs.
final class ConnectionWire: StreamWire {
    /// How TLS is started.
    struct Security {
        let profile: TLSProfile
        /// Answers about the peer and about who we are; nil where nobody is to be asked.
        let asker: TaskTrust?
        let timeout: Interval?
    }

    private let connection: RawConnection
    private let security: Security

    init(_ connection: RawConnection, _ security: Security) {
        self.connection = connection
        self.security = security
    }

    var handler: (any RawConnectionHandler)? {
        get { connection.handler }
        set { connection.handler = newValue }
    }

    var peerIsClosing: Bool { connection.peerIsClosing }

    func receive(into buffer: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome {
        do throws(TransportError) { return try connection.receive(into: &buffer) } catch {
            throw .lost(error)
        }
    }

    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome {
        do throws(TransportError) { return try connection.send(bytes) } catch { throw .lost(error) }
    }

    func flush() throws(StreamFault) -> Bool {
        do throws(TransportError) { return try connection.flush() } catch { throw .lost(error) }
    }

    func closeWriting() { connection.closeWriting() }

    func startTLS() {
        connection.startTLS(security.profile, asker: security.asker, timeout: security.timeout)
    }

    func closeGently() { connection.closeGently() }
    func close() { connection.close() }
}
