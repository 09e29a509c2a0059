// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Transfers plaintext to and from the owner, and ciphertext between OpenSSL and the wire.
extension TLSEngine {
    /// Reads plaintext into the beginning of `buffer`, which must not be empty. After `close`, returns `end`.
    ///
    /// Reads as many records as the wire has and the buffer has room for, but at most `recordsInOneRead`, so that a peer with
    /// many small records does not delay other connections. Afterwards output may be pending, because OpenSSL answers some
    /// messages, such as a KeyUpdate.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(TLSError) -> TLSReadOutcome {
        hasPendingEnd = false
        if phase == .closed { return .end }
        try requireEstablished()
        precondition(!buffer.isEmpty, "there is no room to read into")
        bytesWithoutData = 0
        mayReceive = true
        // Set again at the end, because OpenSSL may also receive during a `write`.
        defer { mayReceive = true }
        let room = buffer.count
        var filled = 0
        var result: Int32 = 0
        let ssl = unsafe connection
        // 0 means OpenSSL's default size.
        let receiveSize = room > Self.largeReceiveSize ? Self.largeReceiveSize : 0
        unsafe SSL_set_default_read_buffer_len(ssl, receiveSize)
        unsafe buffer.withUnsafeMutableBytes { raw in
            for _ in 0..<Self.recordsInOneRead where filled < room {
                var count = 0
                OpenSSLErrors.clear()
                unsafe result = SSL_read_ex(
                    ssl, raw.baseAddress?.advanced(by: filled), room - filled, &count)
                guard result == 1 else { break }
                filled += count
                bytesWithoutData = 0
                // There is plaintext to return, so OpenSSL receives from the wire again only if more bytes have arrived.
                mayReceive = !wire.isDrained
                guard unsafe mayReceive || SSL_has_pending(ssl) == 1 else { break }
            }
        }
        plaintextBytesRead &+= filled
        let reason = result == 1 ? SSL_ERROR_NONE : unsafe SSL_get_error(connection, result)
        releaseBuffers()
        if filled > 0 {
            hasPendingEnd = reason != SSL_ERROR_NONE && reason != SSL_ERROR_WANT_READ
            // The next call has to report an error of the record that follows. OpenSSL reports it only once, so `fail` stores it.
            // For a close_notify (ZERO_RETURN), OpenSSL itself repeats the report.
            if hasPendingEnd && reason != SSL_ERROR_ZERO_RETURN { _ = fail(stopError(for: reason)) }
            return .bytes(filled)
        }
        switch reason {
        case SSL_ERROR_WANT_READ:
            if sendsTooManyMessages {
                throw fail(.tooManyMessages(count: Int(unsafe lupine_SSL_message_count(connection))))
            }
            if bytesWithoutData > Self.controlByteLimit {
                throw fail(.onlyControlMessages(bytes: bytesWithoutData))
            }
            let pendingCount = pendingOutput.count - pendingOutputStart
            if pendingCount > Self.pendingReplyLimit { throw fail(.answersNotRead(bytes: pendingCount)) }
            return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .end
        default: throw fail(stopError(for: reason))
        }
    }

    /// For a caller whose buffer is larger than this number of bytes, OpenSSL's read buffer gets this size. One receive from the
    /// wire then yields as much.
    private static var largeReceiveSize: Int { 64 * 1024 }

    /// Whether the next `read` has something to report without more input from the wire: bytes that OpenSSL has buffered, or the
    /// end or error that the last `read` has found.
    package var hasBufferedInput: Bool { unsafe hasPendingEnd || SSL_has_pending(connection) == 1 }

    /// Encrypts and sends a prefix of `bytes`, and returns its length.
    ///
    /// Returns 0 while output is pending, and while only part of a protocol message has arrived, which OpenSSL has to read
    /// completely first. Otherwise sends at least one record.
    package func write(_ bytes: Span<UInt8>) throws(TLSError) -> Int {
        try requireEstablished()
        var written = 0
        while written < bytes.count && (pendingOutput.isEmpty || isCorked) {
            let unwritten = bytes.extracting(written...)
            var count = 0
            OpenSSLErrors.clear()
            let result = unsafe unwritten.withUnsafeBufferPointer { raw in
                unsafe SSL_write_ex(connection, raw.baseAddress, raw.count, &count)
            }
            guard result == 1 else {
                let reason = unsafe SSL_get_error(connection, result)
                // Only part of a protocol message has arrived, such as a ticket. OpenSSL writes after it has read all of it.
                if reason == SSL_ERROR_WANT_READ { return written }
                throw fail(stopError(for: reason))
            }
            // Sends the first data together with the last flight of the handshake.
            if isCorked { try flush() }
            if hasFailedToSend { throw .wireFailed }
            written += count
        }
        releaseBuffers()
        return written
    }

    /// Whether the wire has not accepted all output; call `flush` when the wire is writable.
    package var hasPendingOutput: Bool { !pendingOutput.isEmpty && !isCorked }

    /// Sends pending output, as much as the wire accepts. This includes a last flight that waits for the first write.
    package func flush() throws(TLSError) {
        isCorked = false
        let output = pendingOutput
        guard !output.isEmpty else { return }
        var start = pendingOutputStart
        while start < output.count {
            let outcome = wire.send(output.span.extracting(start...))
            guard case .bytes(let count) = outcome, count > 0 else {
                if outcome == .wouldBlock {
                    pendingOutputStart = start
                    return
                }
                hasFailedToSend = true
                break
            }
            start += count
        }
        // All output has been sent; after a failure of the wire, the rest is discarded.
        pendingOutput = []
        pendingOutputStart = 0
        if hasFailedToSend { throw .wireFailed }
    }

    /// Ends the connection: sends close_notify, and reads nothing more. Does not wait for the wire: output that it does not
    /// accept stays pending.
    package func close() {
        guard phase == .established else { return }
        phase = .closed
        OpenSSLErrors.clear()
        // The result is ignored: the connection has ended in any case.
        unsafe _ = SSL_shutdown(connection)
        // The close_notify now follows the last flight in the pending output.
        if isCorked { try? flush() }
    }

    /// Sends close_notify and continues reading, because the peer closes its direction separately (RFC 8446 §6.1). Nothing may be
    /// written afterwards. Does not wait for the wire: output that it does not accept stays pending.
    package func closeWriting() {
        guard phase == .established else { return }
        // The error queue is cleared after the call too: `SSL_shutdown` may leave an error that concerns no later operation.
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        OpenSSLErrors.clear()
        if isCorked { try? flush() }
    }

    /// Frees OpenSSL's two buffers of 16 KiB each, unless they contain part of a record. The next data may take long to arrive.
    ///
    /// OpenSSL's mode SSL_MODE_RELEASE_BUFFERS is no substitute: it frees the buffers after every handshake message too, and
    /// leaves the write buffer allocated after a TLS 1.3 ticket. Before OpenSSL 3.0.14, SSL_free_buffers does not check for a
    /// record whose header has been read (CVE-2024-4741), so this function does: "RH" is the state between two records. The
    /// function is called after reading and writing, but not after a client's handshake, which a write usually follows.
    func releaseBuffers() {
        // Even if the buffers stay allocated now: after that, each read and write tries to free them.
        keepsBuffers = false
        guard unsafe SSL_has_pending(connection) == 0, let state = unsafe SSL_rstate_string(connection),
            unsafe strcmp(state, "RH") == 0
        else { return }
        unsafe _ = SSL_free_buffers(connection)
    }

    /// Throws unless application data may be transferred.
    private func requireEstablished() throws(TLSError) {
        switch phase {
        case .established: return
        case .failed(let failure): throw failure
        // Not a mistake of the caller: it may have closed the connection while it handled received data, and then tried to
        // write its last output.
        case .closed: throw .wireFailed
        case .handshaking: preconditionFailure("the handshake is not over")
        }
    }

    // MARK: Called by OpenSSL's BIO

    /// The most bytes that a peer may send in its handshake, or in one read without application data: 15 times the largest
    /// record. OpenSSL accepts 100 KiB for a chain and 100 KiB for a list of issuers; the limit exceeds their sum, and the length
    /// of any post-handshake message.
    static var controlByteLimit: Int { 256 * 1024 }
    /// The most bytes of output that may be pending for a peer that keeps sending messages and does not read the replies: one
    /// record of data, and the replies to some hundreds of messages.
    private static var pendingReplyLimit: Int { 24 * 1024 }

    /// The type of a record that contains an alert (RFC 8446 §5.1).
    static var alertType: UInt8 { 21 }
    /// The most records per read. At their largest size, these are four times the largest buffer of any reader.
    private static var recordsInOneRead: Int { 64 }
    /// The most post-handshake messages (tickets and key updates) that a peer may send, in addition to one for every 16 KiB of
    /// data. Each costs more time than many octets of data.
    static var messageLimit: Int { 1024 }

    /// Whether the peer has sent more than `messageLimit` messages, in addition to one for every 16 KiB of data.
    private var sendsTooManyMessages: Bool {
        // The shift divides by 2^14, which is 16 KiB.
        unsafe lupine_SSL_message_count(connection) > Self.messageLimit + (plaintextBytesRead >> 14)
    }

    /// Receives bytes from the wire into `output`. Returns false when the wire has ended or failed, otherwise true, even if there
    /// was nothing to receive.
    ///
    /// Receives nothing once the peer has exceeded a limit. OpenSSL then stops, and `read` or `handshake` throws the error.
    func receive(into output: inout OutputSpan<UInt8>) -> Bool {
        guard mayReceive, bytesWithoutData <= Self.controlByteLimit,
            pendingOutput.count - pendingOutputStart <= Self.pendingReplyLimit, !sendsTooManyMessages
        else { return true }
        // In a handshake, the peer may wait for the pending output before it sends its next message. An error of the flush is
        // recorded in `hasFailedToSend`.
        if phase == .handshaking { try? flush() }
        lastReceive = wire.receive(into: &output)
        switch lastReceive {
        case .bytes, .wouldBlock:
            bytesWithoutData += output.count
            return true
        case .end, .failed: return false
        }
    }

    /// Sends a record to the wire, or adds it to `pendingOutput`. Returns true in both cases. Returns false if the owner has not
    /// accepted the peer yet, and the record has to be held back; OpenSSL then tries again.
    ///
    /// After the wire has failed, discards the record and returns true; `hasFailedToSend` reports the failure.
    func send(_ record: Span<UInt8>) -> Bool {
        // Alerts may be sent before the verdict: they reveal only that the connection ends. The first byte is the record's type.
        if trustMachine.allowsOnlyAlerts && record[0] != Self.alertType {
            // The advice, to wait or to refuse, is the result false.
            _ = trustMachine.handle(.wantsToSend)
            return false
        }
        if hasFailedToSend { return true }
        var sent = 0
        if case .client = role, phase == .handshaking, record[0] != Self.alertType {
            // Collects the records of a flight. `handshake` sends them together when it waits for the peer; the last flight is
            // sent together with the first data (`isCorked`).
            appendToPendingOutput(record)
            return true
        }
        while pendingOutput.isEmpty && sent < record.count {
            let outcome = wire.send(record.extracting(sent...))
            guard case .bytes(let count) = outcome, count > 0 else {
                if outcome == .wouldBlock { break }
                hasFailedToSend = true
                return true
            }
            sent += count
        }
        if sent < record.count { appendToPendingOutput(record.extracting(sent...)) }
        return true
    }

    /// Appends to `pendingOutput`. The array is moved out and back, because modifying the property in place would add a run-time
    /// exclusivity check to every access.
    private func appendToPendingOutput(_ bytes: Span<UInt8>) {
        var output = pendingOutput
        pendingOutput = []
        // 512 bytes suffice for the two or three records of a client's last flight.
        if output.isEmpty { output.reserveCapacity(max(512, bytes.count)) }
        unsafe bytes.withUnsafeBufferPointer { unsafe output.append(contentsOf: $0) }
        pendingOutput = output
    }
}
