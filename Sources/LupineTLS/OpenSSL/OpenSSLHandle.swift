// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// One reference to a counted object of OpenSSL, given up when the last Swift reference goes.
///
/// The objects behind handles are never changed once they are wrapped, and OpenSSL counts references and fills its
/// caches under locks of its own: that is why a handle may be used from any thread. Whoever still has to change an
/// object does so before it wraps it. Not for objects of one connection: `TLSEngine` owns those.
@safe package final class OpenSSLHandle<Object: OpenSSLObject>: @unchecked Sendable {
    /// The object; alive as long as the handle.
    package let pointer: OpaquePointer

    /// Takes over the reference that `pointer` came with.
    package init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    /// The same; nil for a null pointer, which is how OpenSSL says that it failed.
    package convenience init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.init(owning: pointer)
    }

    /// Takes a reference of its own to an object that somebody else holds.
    package convenience init(sharing pointer: OpaquePointer) {
        unsafe Object.retain(pointer)
        unsafe self.init(owning: pointer)
    }

    deinit { unsafe Object.release(pointer) }
}

/// How references to one kind of object are taken and given up.
package protocol OpenSSLObject {
    /// Takes one more.
    static func retain(_ pointer: OpaquePointer)
    /// Gives one up.
    static func release(_ pointer: OpaquePointer)
}

/// A certificate.
package enum X509Object: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = X509_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe X509_free(pointer) }
}

/// A public or private key.
package enum KeyObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = EVP_PKEY_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe EVP_PKEY_free(pointer) }
}

/// A revocation list.
package enum RevocationListObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = X509_CRL_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe X509_CRL_free(pointer) }
}

/// A set of trusted certificates.
package enum StoreObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = X509_STORE_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe X509_STORE_free(pointer) }
}

/// What a connection can be resumed with.
package enum SessionObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = SSL_SESSION_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe SSL_SESSION_free(pointer) }
}

/// The settings that connections share.
package enum ContextObject: OpenSSLObject {
    package static func retain(_ pointer: OpaquePointer) { unsafe _ = SSL_CTX_up_ref(pointer) }
    package static func release(_ pointer: OpaquePointer) { unsafe SSL_CTX_free(pointer) }
}
