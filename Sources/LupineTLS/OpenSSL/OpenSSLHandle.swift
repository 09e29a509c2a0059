// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Owns one reference to a reference-counted OpenSSL object, and releases it when deallocated.
///
/// A handle may be used on any thread: nothing modifies an object after a handle has wrapped it, and OpenSSL protects reference
/// counts and internal caches with its own locks. There are no handles for the objects of a single connection: `TLSEngine` owns
/// them.
@safe package final class OpenSSLHandle<Object: OpenSSLObject>: @unchecked Sendable {
    /// The object; valid as long as the handle.
    package let pointer: OpaquePointer

    /// Takes ownership of a reference.
    package init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    /// Takes ownership of a reference; nil for a null pointer, which OpenSSL returns on failure.
    package convenience init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.init(owning: pointer)
    }

    /// Adds a reference to an object that other code owns too.
    package convenience init(sharing pointer: OpaquePointer) {
        unsafe Object.retain(pointer)
        unsafe self.init(owning: pointer)
    }

    deinit { unsafe Object.release(pointer) }
}

/// Retains and releases references to one type of object.
package protocol OpenSSLObject {
    /// Adds a reference.
    static func retain(_ pointer: OpaquePointer)
    /// Removes a reference.
    static func release(_ pointer: OpaquePointer)
}

/// A certificate (`X509`).
package enum X509Object: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = X509_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe X509_free(pointer) }
}

/// A public or private key (`EVP_PKEY`).
package enum KeyObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = EVP_PKEY_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe EVP_PKEY_free(pointer) }
}

/// A revocation list (`X509_CRL`).
package enum RevocationListObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = X509_CRL_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe X509_CRL_free(pointer) }
}

/// A set of trusted certificates (`X509_STORE`).
package enum StoreObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = X509_STORE_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe X509_STORE_free(pointer) }
}

/// A session that a connection can resume (`SSL_SESSION`).
package enum SessionObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = SSL_SESSION_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe SSL_SESSION_free(pointer) }
}

/// The settings that connections share (`SSL_CTX`).
package enum ContextObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = SSL_CTX_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe SSL_CTX_free(pointer) }
}
