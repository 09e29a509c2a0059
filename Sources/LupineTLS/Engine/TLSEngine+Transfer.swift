// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Transfers plaintext to and from the owner, and ciphertext between OpenSSL and the wire.
extension TLSEngine {
    /// Reads plaintext into the beginning of `buffer`, which must not be empty; after `close`, returns the end.
    ///
    /// Reads as many records as the wire has and the buffer can hold, but at most `recordsInOneRead`, so that a peer with many
    /// small records does not delay other connections. Afterwards output may be pending, because OpenSSL answers some messages,
    /// such as a KeyUpdate.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(TLSError) -> TLSReadOutcome {
        hasPendingEnd = false
        if phase == .closed { return .end }
        try requireEstablished()
        precondition(!buffer.isEmpty, "there is no room to read into")
        bytesWithoutData = 0
        mayReceive = true
        defer { mayReceive = true }
        let room = buffer.count
        var filled = 0
        var result: Int32 = 0
        let target = unsafe connection
        unsafe SSL_set_default_read_buffer_len(target, room > Self.largeReceiveSize ? Self.largeReceiveSize : 0)
        unsafe buffer.withUnsafeMutableBytes { raw in
            for _ in 0..<Self.recordsInOneRead where filled < room {
                var count = 0
                OpenSSLErrors.clear()
                unsafe result = SSL_read_ex(
                    target, raw.baseAddress?.advanced(by: filled), room - filled, &count)
                guard result == 1 else { break }
                filled += count
                bytesWithoutData = 0
                // Data that has arrived is returned immediately: a wire that is known to be empty is not read again.
                mayReceive = !wire.isDrained
                guard unsafe mayReceive || SSL_has_pending(target) == 1 else { break }
            }
        }
        plaintextRead &+= filled
        let reason = result == 1 ? SSL_ERROR_NONE : unsafe SSL_get_error(connection, result)
        releaseBuffers()
        if filled > 0 {
            hasPendingEnd = reason != SSL_ERROR_NONE && reason != SSL_ERROR_WANT_READ
            // OpenSSL reports the error of the next record only once; storing it makes the next call repeat it.
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
            let waiting = pendingOutput.count - pendingOutputStart
            if waiting > Self.pendingReplyLimit { throw fail(.answersNotRead(bytes: waiting)) }
            return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .end
        default: throw fail(stopError(for: reason))
        }
    }

    /// If the reader's buffer is larger than this, OpenSSL's read buffer gets this size, so that one receive fetches as much.
    private static var largeReceiveSize: Int { 64 * 1024 }

    /// Whether OpenSSL has buffered input, or the last `read` has found the end or an error, which the next `read` reports.
    package var hasBufferedInput: Bool { unsafe hasPendingEnd || SSL_has_pending(connection) == 1 }

    /// Encrypts and sends a prefix of `bytes`, and returns its length.
    ///
    /// Returns 0 while output is pending, or while only part of a protocol message has arrived: OpenSSL has to read all of it
    /// first. Otherwise sends at least one record.
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
                // Only part of a ticket has arrived; OpenSSL writes after it has read all of it.
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

    /// Sends pending output, as much as the wire accepts.
    package func flush() throws(TLSError) {
        isCorked = false
        let waiting = pendingOutput
        guard !waiting.isEmpty else { return }
        var start = pendingOutputStart
        while start < waiting.count {
            let outcome = wire.send(waiting.span.extracting(start...))
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
        pendingOutput = []
        pendingOutputStart = 0
        if hasFailedToSend { throw .wireFailed }
    }

    /// Ends the connection: sends close_notify, and reads nothing more. Does not wait: output that the wire does not accept stays
    /// pending.
    package func close() {
        guard phase == .established else { return }
        phase = .closed
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        if isCorked { try? flush() }
    }

    /// Sends close_notify and continues reading, because the peer closes its direction separately (RFC 8446 §6.1). Nothing may be
    /// written afterwards. Does not wait: output that the wire does not accept stays pending.
    package func closeWriting() {
        guard phase == .established else { return }
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        OpenSSLErrors.clear()
        if isCorked { try? flush() }
    }

    /// Frees OpenSSL's two buffers of 16 KiB each, unless they contain part of a record: the next data may take long to arrive.
    ///
    /// SSL_MODE_RELEASE_BUFFERS would free them after every handshake message too, and leaves the write buffer allocated after a
    /// TLS 1.3 ticket. Before 3.0.14, SSL_free_buffers does not check for a record whose header has been read (CVE-2024-4741), so
    /// this function does: "RH" is the state between two records. Called after reading and writing, but not after a client's
    /// handshake, which a write usually follows.
    func releaseBuffers() {
        keepsBuffers = false
        guard unsafe SSL_has_pending(connection) == 0, let state = unsafe SSL_rstate_string(connection),
            unsafe strcmp(state, "RH") == 0
        else { return }
        unsafe _ = SSL_free_buffers(connection)
    }

    private func requireEstablished() throws(TLSError) {
        switch phase {
        case .established: return
        case .failed(let failure): throw failure
        // A caller may have closed the connection while it was reading from it, and send its last output afterwards.
        case .closed: throw .wireFailed
        case .handshaking: preconditionFailure("the handshake is not over")
        }
    }

    // MARK: Called by OpenSSL's BIO

    /// The most bytes that a peer may send in its handshake, or in one read without application data: 15 times the largest
    /// record. This exceeds the 100 KiB each that OpenSSL accepts for a chain and for a list of issuers together, and any
    /// post-handshake message.
    static var controlByteLimit: Int { 256 * 1024 }
    /// The most output that may be pending for a peer that keeps sending requests without reading the answers: one record of
    /// data, and the answers to some hundreds of messages.
    private static var pendingReplyLimit: Int { 24 * 1024 }

    /// The type of a record that contains an alert (RFC 8446 §5.1).
    static var alertType: UInt8 { 21 }
    /// The most records per read. At their largest size, these are four times the largest buffer of any reader.
    private static var recordsInOneRead: Int { 64 }
    /// The most post-handshake messages (tickets and key updates) that a peer may send, in addition to one for every 16 KiB of
    /// data. Each costs more time than many octets of data.
    static var messageLimit: Int { 1024 }

    private var sendsTooManyMessages: Bool {
        // 2^14 octets are 16 KiB.
        unsafe lupine_SSL_message_count(connection) > Self.messageLimit + (plaintextRead >> 14)
    }

    /// Fills `output` from the wire. Returns false when the wire has ended or failed; true even if it received nothing.
    ///
    /// Receives nothing once the peer has exceeded a limit. OpenSSL then stops, and `read` or `handshake` throws the error.
    func receive(into output: inout OutputSpan<UInt8>) -> Bool {
        guard mayReceive, bytesWithoutData <= Self.controlByteLimit,
            pendingOutput.count - pendingOutputStart <= Self.pendingReplyLimit, !sendsTooManyMessages
        else { return true }
        // OpenSSL waits for the peer's next message, and the peer may wait for the output that is still pending.
        if phase == .handshaking { try? flush() }
        lastReceive = wire.receive(into: &output)
        switch lastReceive {
        case .bytes, .wouldBlock:
            bytesWithoutData += output.count
            return true
        case .end, .failed: return false
        }
    }

    /// Sends a record to the wire, or adds it to `pendingOutput`. Returns false when the record is held back because the owner has not
    /// accepted the peer yet; OpenSSL then tries again.
    ///
    /// After a failure, records are discarded and the result is still true; `hasFailedToSend` reports the failure.
    func send(_ record: Span<UInt8>) -> Bool {
        // Alerts pass: they reveal only that the connection ends.
        if trustMachine.allowsOnlyAlerts && record[0] != Self.alertType {
            _ = trustMachine.handle(.wantsToSend)
            return false
        }
        if hasFailedToSend { return true }
        var sent = 0
        if case .client = role, phase == .handshaking, record[0] != Self.alertType {
            // Collects each flight, so that `handshake` sends it at once when it waits for the peer. The last flight is sent
            // together with the first data (`isCorked`).
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

    /// Appends to `pendingOutput`. The array is moved out and back, because modifying it in place would add a run-time exclusivity
    /// check to every access.
    private func appendToPendingOutput(_ bytes: Span<UInt8>) {
        var grown = pendingOutput
        pendingOutput = []
        // The last flight consists of two or three records.
        if grown.isEmpty { grown.reserveCapacity(max(512, bytes.count)) }
        unsafe bytes.withUnsafeBufferPointer { unsafe grown.append(contentsOf: $0) }
        pendingOutput = grown
    }
}
