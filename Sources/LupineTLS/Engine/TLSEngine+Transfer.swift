// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Plaintext in and out, and the way between OpenSSL and the wire.
extension TLSEngine {
    /// Reads plaintext over the beginning of `buffer`, which must not be empty; nothing after `close`: as many records as there is room
    /// for, while the wire has them, but no more than `recordsInOneRead`, so that small ones keep nobody waiting. Output may be pending afterwards: the protocol has answers of its own.
    package func read(into buffer: inout MutableSpan<UInt8>) throws(TLSError) -> TLSReadOutcome {
        holdsEnd = false
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
        unsafe SSL_set_default_read_buffer_len(target, room > Self.burst ? Self.burst : 0)
        unsafe buffer.withUnsafeMutableBytes { raw in
            for _ in 0..<Self.recordsInOneRead where filled < room {
                var count = 0
                OpenSSLErrors.clear()
                unsafe result = SSL_read_ex(
                    target, raw.baseAddress?.advanced(by: filled), room - filled, &count)
                guard result == 1 else { break }
                filled += count
                bytesWithoutData = 0
                // What has come already is handed out at once: a wire that is known to be empty is not asked again.
                mayReceive = !wire.isDrained
                guard unsafe mayReceive || SSL_has_pending(target) == 1 else { break }
            }
        }
        plaintextRead &+= filled
        let reason = result == 1 ? SSL_ERROR_NONE : unsafe SSL_get_error(connection, result)
        releaseBuffers()
        if filled > 0 {
            holdsEnd = reason != SSL_ERROR_NONE && reason != SSL_ERROR_WANT_READ
            // OpenSSL says only once what is wrong with the next record; the next call repeats it.
            if holdsEnd && reason != SSL_ERROR_ZERO_RETURN { _ = fail(failure(for: reason)) }
            return .bytes(filled)
        }
        switch reason {
        case SSL_ERROR_WANT_READ:
            if sendsTooManyMessages {
                throw fail(.tooManyMessages(count: Int(unsafe lupine_SSL_messages(connection))))
            }
            if bytesWithoutData > Self.controlLimit {
                throw fail(.onlyControlMessages(bytes: bytesWithoutData))
            }
            let waiting = pending.count - pendingStart
            if waiting > Self.answerLimit { throw fail(.answersNotRead(bytes: waiting)) }
            return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .end
        default: throw fail(failure(for: reason))
        }
    }

    /// How much ciphertext is received with one call for a reader who has room for more than that.
    private static var burst: Int { 64 * 1024 }

    /// Whether there is more to read without asking the wire: bytes, or how it ends.
    package var hasBufferedInput: Bool { unsafe holdsEnd || SSL_has_pending(connection) == 1 }

    /// Encrypts and sends the beginning of `bytes`: nothing while output is pending, or while the peer is amid a message
    /// of the protocol whose rest has to be read first, else at least one record's worth.
    package func write(_ bytes: Span<UInt8>) throws(TLSError) -> Int {
        try requireEstablished()
        var taken = 0
        while taken < bytes.count && (pending.isEmpty || isCorked) {
            let rest = bytes.extracting(taken...)
            var count = 0
            OpenSSLErrors.clear()
            let result = unsafe rest.withUnsafeBufferPointer { raw in
                unsafe SSL_write_ex(connection, raw.baseAddress, raw.count, &count)
            }
            guard result == 1 else {
                let reason = unsafe SSL_get_error(connection, result)
                // Half of a ticket has come, and OpenSSL reads on before it writes.
                if reason == SSL_ERROR_WANT_READ { return taken }
                throw fail(failure(for: reason))
            }
            if isCorked { try flush() }
            if sendingFailed { throw .wireFailed }
            taken += count
        }
        releaseBuffers()
        return taken
    }

    /// Whether the wire has not taken everything; it is to be flushed when the wire is writable.
    package var hasPendingOutput: Bool { !pending.isEmpty && !isCorked }

    /// Offers the wire what it has not taken.
    package func flush() throws(TLSError) {
        isCorked = false
        let waiting = pending
        guard !waiting.isEmpty else { return }
        var start = pendingStart
        while start < waiting.count {
            let outcome = wire.send(waiting.span.extracting(start...))
            guard case .bytes(let count) = outcome, count > 0 else {
                if outcome == .wouldBlock {
                    pendingStart = start
                    return
                }
                sendingFailed = true
                break
            }
            start += count
        }
        pending = []
        pendingStart = 0
        if sendingFailed { throw .wireFailed }
    }

    /// Tells the peer that nothing more will come. It waits for nothing: what the wire does not take is pending.
    package func close() {
        guard phase == .established else { return }
        phase = .closed
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        if isCorked { try? flush() }
    }

    /// Tells the peer that nothing more will come, and reads on: the other direction has an end of its own (RFC 8446 §6.1). It
    /// waits for nothing: what the wire does not take is pending. Nothing may be written afterwards.
    package func closeWriting() {
        guard phase == .established else { return }
        OpenSSLErrors.clear()
        unsafe _ = SSL_shutdown(connection)
        OpenSSLErrors.clear()
        if isCorked { try? flush() }
    }

    /// Lets go of OpenSSL's two buffers of 16 KiB each, unless some of a record is in them: what is waited for may take long
    /// to come. SSL_MODE_RELEASE_BUFFERS would do so for every message of a handshake too, and leaves the buffer for writing
    /// behind when a ticket of TLS 1.3 has come. That a record's header was read has to be asked for: before 3.0.14
    /// SSL_free_buffers did not look (CVE-2024-4741). Reading and writing end with it; a client's handshake does not, because
    /// it mostly is written at once behind it.
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
        // What sends through this connection may have closed it while it reads, and sends its last flight afterwards.
        case .closed: throw .wireFailed
        case .handshaking: preconditionFailure("the handshake is not over")
        }
    }

    // MARK: What OpenSSL's BIO calls

    /// The most that a peer may send in its handshake, or in one read without any data in it: 15 times the largest record,
    /// more than OpenSSL takes of a chain (100 KiB) and a list of issuers (as much) together, and more than any message
    /// of the protocol that comes after the handshake.
    static var controlLimit: Int { 256 * 1024 }
    /// The most that may wait for a peer that keeps asking and does not read: a record of data, and the answers to some hundreds
    /// of its messages.
    private static var answerLimit: Int { 24 * 1024 }

    /// So many records are read with one call: of the largest, four times what anybody has room for.
    private static var recordsInOneRead: Int { 64 }
    /// So many messages of the protocol may come after the handshake, and one more for every 16 KiB of data: tickets and new keys,
    /// each of which costs more than many octets of data do.
    static var messageLimit: Int { 1024 }

    private var sendsTooManyMessages: Bool {
        unsafe lupine_SSL_messages(connection) > Self.messageLimit + plaintextRead >> 14
    }

    /// Fills `output` from the wire; false when nothing will come any more.
    func receive(into output: inout OutputSpan<UInt8>) -> Bool {
        guard mayReceive, bytesWithoutData <= Self.controlLimit,
            pending.count - pendingStart <= Self.answerLimit, !sendsTooManyMessages
        else { return true }
        // OpenSSL asks for the peer's next word: ours has to be out before.
        if phase == .handshaking { try? flush() }
        lastReceive = wire.receive(into: &output)
        switch lastReceive {
        case .bytes, .wouldBlock:
            bytesWithoutData += output.count
            return true
        case .end, .failed: return false
        }
    }

    /// Takes `record` for the wire; false when it is held back because nobody has judged the peer yet.
    func send(_ record: Span<UInt8>) -> Bool {
        // Alerts pass: they carry nothing but that it is over.
        if gate.isHolding && record[0] != 21 {
            _ = gate.handle(.wantsToAnswer)
            return false
        }
        if sendingFailed { return true }
        var sent = 0
        if case .client = role, phase == .handshaking, record[0] != 21 {
            // `handshake` flushes where the peer has the next word, and leaves the last flight to the first write.
            keep(record)
            return true
        }
        while pending.isEmpty && sent < record.count {
            let outcome = wire.send(record.extracting(sent...))
            guard case .bytes(let count) = outcome, count > 0 else {
                if outcome == .wouldBlock { break }
                sendingFailed = true
                return true
            }
            sent += count
        }
        if sent < record.count { keep(record.extracting(sent...)) }
        return true
    }

    /// Adds to what is pending. The array is taken out for it: changed in place it would have every look at it checked
    /// for overlapping accesses at run time.
    private func keep(_ bytes: Span<UInt8>) {
        var kept = pending
        pending = []
        // A last flight comes in two records or three.
        if kept.isEmpty { kept.reserveCapacity(max(512, bytes.count)) }
        unsafe bytes.withUnsafeBufferPointer { unsafe kept.append(contentsOf: $0) }
        pending = kept
    }
}
