// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTransport

/// The source and destination of a stream task's bytes: a connection, or the content of a response. All calls are on its loop.
///
/// Nothing is read ahead of the handler, which tries again to read and to write when it is told that the wire is ready.
protocol StreamWire: AnyObject {
    var handler: (any RawConnectionHandler)? { get set }
    /// Whether the peer has announced that it sends no more; earlier data may still be unread.
    var peerIsClosing: Bool { get }
    /// Reads into the beginning of `buffer`, which must not be empty.
    func receive(into buffer: inout MutableSpan<UInt8>) throws(StreamFault) -> ReadOutcome
    /// Sends a prefix of `bytes`, as long as is accepted.
    func send(_ bytes: Span<UInt8>) throws(StreamFault) -> WriteOutcome
    /// Returns whether everything that was sent has been written to the kernel.
    func flush() throws(StreamFault) -> Bool
    /// Closes our half after everything that was sent.
    func closeWriting()
    /// Starts TLS; the handler is told the result.
    func startTLS()
    /// Closes after the end of both halves, so that the peer receives what was sent. The handler gets no more calls.
    func closeGently()
    /// Closes immediately. The handler gets no more calls.
    func close()
}

/// A connection to a host, with the settings to start TLS on it.
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
        connection.startTLS(security.profile, verifier: security.verifier, timeout: security.timeout)
    }

    func closeGently() { connection.closeGently() }
    func close() { connection.close() }
}
