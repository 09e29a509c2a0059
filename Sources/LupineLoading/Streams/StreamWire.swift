// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTransport

/// The source and destination of a stream task's bytes: a connection, or the content of a response. Must be used on its loop.
///
/// A wire reads nothing in advance: it calls its handler when it is ready, and the handler then calls `receive` and `send`.
protocol StreamWire: AnyObject {
    /// Called when the wire is ready to read or write, when TLS is established, and when the connection has ended.
    var handler: (any RawConnectionHandler)? { get set }
    /// Whether the peer has announced that it sends no more; earlier data may still be unread.
    var peerIsClosing: Bool { get }
    /// Reads into the beginning of `buffer`, which must not be empty.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome
    /// Sends as many of `bytes` as the wire accepts.
    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome
    /// Writes buffered bytes to the kernel; returns whether it has accepted all of them.
    func flush() throws(StreamFault) -> Bool
    /// Closes the writing half after the bytes that were sent.
    func closeWriting()
    /// Starts TLS. Calls the handler's `connectionIsSecure` or `connectionEnded` with the result.
    func startTLS()
    /// Closes the wire after both halves have ended, in a way that lets the peer receive all bytes. The handler is not called
    /// again.
    func closeGently()
    /// Closes the wire immediately. The handler is not called again.
    func close()
}

/// A connection to a host, on which TLS can be started later.
final class ConnectionWire: StreamWire {
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
            throw .connectionFailed(error)
        }
    }

    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome {
        do throws(TransportError) { return try connection.send(bytes) } catch {
            throw .connectionFailed(error)
        }
    }

    func flush() throws(StreamFault) -> Bool {
        do throws(TransportError) { return try connection.flush() } catch { throw .connectionFailed(error) }
    }

    func closeWriting() { connection.closeWriting() }

    func startTLS() {
        connection.startTLS(security.profile, verifier: security.verifier, timeout: security.timeout)
    }

    func closeGently() { connection.closeGently() }
    func close() { connection.close() }
}
