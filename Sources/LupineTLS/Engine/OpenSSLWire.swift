// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The BIO (OpenSSL's abstraction of input and output) through which OpenSSL reads from and writes to an engine's wire.
///
/// The BIO's data is a pointer to the engine, which it does not retain: the engine owns the SSL object, which owns the BIO. The
/// wire receives directly into OpenSSL's buffer. Writes succeed, because the engine stores what the wire does not accept. There
/// is one exception: before the owner has accepted the peer, the engine may hold back a record (`TrustMachine`), and OpenSSL has
/// to retry the write.
enum OpenSSLWire {
    /// The BIO method, shared by all connections.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        let type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
        guard let method = unsafe BIO_meth_new(type, "lupine wire") else { return nil }
        unsafe BIO_meth_set_read_ex(method, readIntoOpenSSL)
        unsafe BIO_meth_set_write_ex(method, writeFromOpenSSL)
        unsafe BIO_meth_set_ctrl(method, controlFromOpenSSL)
        return unsafe method
    }()

    /// Attaches a BIO for `engine` to `connection`; returns false when memory is exhausted.
    static func attach(_ engine: TLSEngine, to connection: OpaquePointer) -> Bool {
        guard let method = unsafe method, let bio = unsafe BIO_new(method) else { return false }
        unsafe BIO_set_data(bio, Unmanaged.passUnretained(engine).toOpaque())
        unsafe BIO_set_init(bio, 1)
        unsafe SSL_set_bio(connection, bio, bio)
        return true
    }

    /// The engine of a BIO.
    static func engine(of bio: OpaquePointer?) -> TLSEngine? {
        guard let bio = unsafe bio, let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<TLSEngine>.fromOpaque(data).takeUnretainedValue()
    }
}

/// OpenSSL's callback for reading from the BIO. Returns 1 if bytes were received, otherwise 0.
private func readIntoOpenSSL(
    _ bio: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ length: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Int32 {
    unsafe lupine_BIO_clear_retry_flags(bio)
    unsafe count?.pointee = 0
    guard let bytes = unsafe bytes, length > 0, let engine = unsafe OpenSSLWire.engine(of: bio) else {
        return 0
    }
    let room = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: length).bindMemory(to: UInt8.self)
    var output = unsafe OutputSpan(buffer: room, initializedCount: 0)
    let isOpen = engine.receive(into: &output)
    let received = unsafe output.finalize(for: room)
    unsafe count?.pointee = received
    if received > 0 { return 1 }
    // OpenSSL is not told about the end of the wire: it would send an alert and invalidate the session. Many servers omit
    // close_notify, and their sessions are still valid. The engine has recorded the end (`lastReceive`) and reports it.
    if isOpen { unsafe lupine_BIO_set_retry_read(bio) }
    return 0
}

/// OpenSSL's callback for writing to the BIO. Returns 1 if all bytes were accepted, otherwise 0.
private func writeFromOpenSSL(
    _ bio: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ length: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Int32 {
    unsafe lupine_BIO_clear_retry_flags(bio)
    unsafe count?.pointee = 0
    guard let bytes = unsafe bytes, length > 0, let engine = unsafe OpenSSLWire.engine(of: bio) else {
        return 0
    }
    let record = unsafe UnsafeRawBufferPointer(start: bytes, count: length).bindMemory(to: UInt8.self)
    guard engine.send(unsafe Span(_unsafeElements: record)) else {
        unsafe lupine_BIO_set_retry_write(bio)
        return 0
    }
    unsafe count?.pointee = length
    return 1
}

/// OpenSSL's callback for commands to the BIO. Returns 1 for success, and 0 for a command that the BIO does not support.
private func controlFromOpenSSL(
    _ bio: OpaquePointer?, _ command: Int32, _ number: Int, _ pointer: UnsafeMutableRawPointer?
) -> Int {
    // A flush succeeds without doing anything, because the engine decides when to flush.
    command == BIO_CTRL_FLUSH ? 1 : 0
}
