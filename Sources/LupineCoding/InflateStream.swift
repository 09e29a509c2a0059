// SPDX-License-Identifier: MIT
import CLupineZlib
import Glibc

/// Owns zlib's inflate state. It is the only code that uses `z_stream` for decoding.
///
/// It decodes one stream in a given wrapping. ``InflateDecoder`` adds several gzip members, and detects the wrapping. zlib stores
/// a pointer back to its `z_stream`, which is therefore on the heap and never moves. ``DecoderMemory`` accounts for the memory.
@safe
struct InflateStream: ~Copyable {
    /// The header and trailer around the deflate data. The raw value is zlib's `windowBits`: 15 is a window of 32 KiB, a negative
    /// number means no header, and 16 more means gzip. All windows are of 32 KiB, so that zlib reuses the window when the
    /// wrapping changes.
    enum Wrapping: CInt {
        case raw = -15
        case zlib = 15
        case gzip = 31
    }

    private let stream: UnsafeMutablePointer<z_stream>
    /// The account of the decoder's memory, with its limit. It is on the heap, because zlib's state has a pointer to it.
    private let account: UnsafeMutablePointer<DecoderMemory>
    /// Whether zlib's state has been created.
    private var isOpen = false
    private var wrapping: Wrapping

    /// The maximum number of bytes of memory that the decoder has used at once.
    var peakMemory: Int { unsafe account.pointee.peak }

    /// Whether the last step ended between two deflate blocks, which zlib reports with bit 7 of `data_type`.
    var isBetweenBlocks: Bool { unsafe stream.pointee.data_type & 128 != 0 }

    /// Creates a stream. The first ``step(_:into:at:room:)`` creates zlib's state.
    init(_ wrapping: Wrapping, memoryLimit: Int) {
        self.wrapping = wrapping
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe account = .allocate(capacity: 1)
        unsafe account.initialize(to: DecoderMemory(limit: memoryLimit))
    }

    deinit {
        if isOpen { unsafe inflateEnd(stream) }
        unsafe stream.deallocate()
        unsafe account.deallocate()
    }

    /// Prepares for another stream in this wrapping, in the same memory.
    mutating func reset(_ wrapping: Wrapping) {
        self.wrapping = wrapping
        guard isOpen else { return }
        let status = unsafe inflateReset2(stream, wrapping.rawValue)
        precondition(status == Z_OK, "inflateReset2 refused its own state")
    }

    /// Calls `inflate` once: from `input` into `output[start..<start + room]`.
    mutating func step(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, room: Int
    ) -> DecoderStep {
        guard openIfNeeded() else { return DecoderStep(consumed: 0, produced: 0, outcome: .outOfMemory) }
        let (status, consumed, produced) = unsafe stream.withBuffers(
            input, &output, at: start, room: room
        ) { stream in
            unsafe inflate(stream, Z_NO_FLUSH)
        }
        return DecoderStep(consumed: consumed, produced: produced, outcome: outcome(of: status))
    }

    /// Creates zlib's state if necessary. Returns false if there is no memory.
    private mutating func openIfNeeded() -> Bool {
        if isOpen { return true }
        unsafe stream.pointee.opaque = UnsafeMutableRawPointer(account)
        unsafe stream.pointee.zalloc = { account, items, size in
            let (bytes, overflow) = Int(items).multipliedReportingOverflow(by: Int(size))
            return overflow ? nil : unsafe AccountedBlock.allocate(account, bytes)
        }
        unsafe stream.pointee.zfree = { account, block in unsafe AccountedBlock.free(account, block) }
        let status = unsafe inflateInit2_(
            stream, wrapping.rawValue, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
        isOpen = status == Z_OK
        return isOpen
    }

    /// Returns the outcome of a call of `inflate` that has returned `status`.
    private func outcome(of status: CInt) -> DecoderStep.Outcome {
        switch status {
        // `Z_BUF_ERROR` means that the call could neither read nor write, which is no error.
        case Z_OK, Z_BUF_ERROR: return .running
        case Z_STREAM_END: return .ended
        case Z_NEED_DICT: return .failed(.dictionary, unread: 0)
        case Z_MEM_ERROR: return .outOfMemory
        case Z_DATA_ERROR:
            // The low six bits of `data_type` are the number of bits that zlib has read but not used.
            return unsafe .failed(fault, unread: Int(stream.pointee.data_type & 63) / 8)
        case let other: preconditionFailure("inflate answered \(other) to a call that is within its rules")
        }
    }

    /// The fault that zlib has found. Only the text of zlib's message tells the kinds of faults apart.
    private var fault: CodingError.Fault {
        let detail = unsafe stream.pointee.msg.map { unsafe String(cString: $0) } ?? "no detail"
        switch detail {
        case "incorrect data check": return .checksum
        case "incorrect length check": return .length
        case "incorrect header check", "unknown compression method", "invalid window size",
            "unknown header flags set", "header crc mismatch":
            return .header(detail: detail)
        case _: return .data(detail: detail)
        }
    }
}

/// Owns zlib's deflate state. It is the only code that uses `z_stream` for encoding. ``DeflateEncoder`` and `MessageDeflater`
/// use it.
@safe
struct DeflateStream: ~Copyable {
    /// The flush that a call of `deflate` performs.
    enum Flush {
        /// zlib decides how much output it writes.
        case none
        /// zlib writes all output, up to a byte boundary.
        case toByteBoundary
        /// zlib writes all output and ends the stream.
        case finish
    }

    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates a stream; nil if there is no memory. `rawWindowBits` is the window of a raw stream, from 9 to 15 bits. The other
    /// wrappings have a window of 15 bits.
    init?(_ wrapping: InflateStream.Wrapping, level: CInt, rawWindowBits: CInt = 15) {
        let windowBits = wrapping == .raw ? -rawWindowBits : wrapping.rawValue
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        // 8 is zlib's default memory level.
        let status = unsafe deflateInit2_(
            stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            CInt(MemoryLayout<z_stream>.size))
        // The deinitializer still runs; `deflateEnd` has no effect on a state that was not created.
        if status != Z_OK { return nil }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Prepares for another stream, in the same memory.
    mutating func reset() {
        let status = unsafe deflateReset(stream)
        precondition(status == Z_OK, "deflateReset refused its own state")
    }

    /// Calls `deflate` once: from `input` into `output[start...]`.
    mutating func step(
        _ input: Span<UInt8>, into output: inout MutableSpan<UInt8>, at start: Int, flush: Flush
    ) -> (consumed: Int, produced: Int, hasEnded: Bool) {
        let mode =
            switch flush {
            case .none: Z_NO_FLUSH
            case .toByteBoundary: Z_SYNC_FLUSH
            case .finish: Z_FINISH
            }
        let (status, consumed, produced) = unsafe stream.withBuffers(
            input, &output, at: start, room: .max
        ) { stream in
            unsafe deflate(stream, mode)
        }
        precondition(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, "deflate: \(status)")
        return (consumed, produced, hasEnded: status == Z_STREAM_END)
    }
}

extension UnsafeMutablePointer<z_stream> {
    /// Passes `input` and `output[start...]`, but at most `room` bytes of output, to one call of zlib. Returns zlib's status, and
    /// the numbers of bytes that it has read and written.
    fileprivate func withBuffers(
        _ input: Span<UInt8>, _ output: inout MutableSpan<UInt8>, at start: Int, room: Int,
        to call: (Self) -> CInt
    ) -> (status: CInt, consumed: Int, produced: Int) {
        let inputCount = min(input.count, Int(CInt.max))
        let outputSpace = min(room, Int(CInt.max), output.count - start)
        let status = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe pointee.next_in = UnsafeMutablePointer<UInt8>(mutating: source.baseAddress)
                unsafe pointee.avail_in = UInt32(inputCount)
                unsafe pointee.next_out = target.baseAddress.map { unsafe $0 + start }
                unsafe pointee.avail_out = UInt32(outputSpace)
                return unsafe call(self)
            }
        }
        // The pointers are not valid after this call.
        unsafe pointee.next_in = nil
        unsafe pointee.next_out = nil
        return unsafe (status, inputCount - Int(pointee.avail_in), outputSpace - Int(pointee.avail_out))
    }
}
