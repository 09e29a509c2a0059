// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import Synchronization

@testable import LupineTLS

/// Counts the OpenSSL objects that a test has marked and that are still alive.
///
/// OpenSSL calls back when a marked object is freed; its copies of a session carry no mark. Objects of other tests that run at
/// the same time are not counted.
enum ObjectCount {
    /// The number of marked objects not yet freed.
    static let alive = Atomic<Int>(0)
    /// The number of objects ever marked.
    static let marked = Atomic<Int>(0)

    private static let connections = index(CRYPTO_EX_INDEX_SSL)
    private static let certificates = index(CRYPTO_EX_INDEX_X509)
    private static let sessions = index(CRYPTO_EX_INDEX_SSL_SESSION)
    private static let contexts = index(CRYPTO_EX_INDEX_SSL_CTX)

    static func mark(_ engine: TLSEngine) {
        count(unsafe SSL_set_ex_data(engine.connection, connections, sign))
    }

    static func mark(_ certificate: Certificate) {
        let pointer = unsafe certificate.handle.pointer
        guard unsafe X509_get_ex_data(pointer, certificates) == nil else { return }
        count(unsafe X509_set_ex_data(pointer, certificates, sign))
    }

    static func mark(_ session: TLSSession) {
        let pointer = unsafe session.handle.pointer
        guard unsafe SSL_SESSION_get_ex_data(pointer, sessions) == nil else { return }
        count(unsafe SSL_SESSION_set_ex_data(pointer, sessions, sign))
    }

    static func mark(_ context: TLSClientContext) {
        count(unsafe SSL_CTX_set_ex_data(context.handle.pointer, contexts, sign))
    }

    private static var sign: UnsafeMutableRawPointer? { unsafe UnsafeMutableRawPointer(bitPattern: 1) }

    private static func count(_ done: Int32) {
        guard done == 1 else { return }
        alive.add(1, ordering: .relaxed)
        marked.add(1, ordering: .relaxed)
    }

    private static func index(_ kind: Int32) -> Int32 {
        unsafe CRYPTO_get_ex_new_index(
            kind, 0, nil, nil,
            { _, _, mark, _, _, _ in
                unsafe mark?.pointee = nil
                return 1
            },
            { _, mark, _, _, _, _ in
                if unsafe mark != nil { ObjectCount.alive.subtract(1, ordering: .relaxed) }
            })
    }
}
