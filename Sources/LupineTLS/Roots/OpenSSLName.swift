// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A distinguished name (RFC 5280 §4.1.2.4) that OpenSSL compares in its canonical form, which ignores case and repeated spaces.
///
/// Owns its copy of the name. The initializer computes the canonical form, and nothing modifies the copy later, so that any
/// thread may compare it.
@safe package final class OpenSSLName: @unchecked Sendable {
    private let pointer: OpaquePointer
    /// The first four octets of the SHA-1 of the canonical form, after which OpenSSL names the files in a folder of roots. If
    /// SHA-1 is not available, all names have the hash 0; they are then compared one by one.
    package let hash: UInt32

    /// Takes ownership of a name; nil for a null pointer.
    private init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
        defer { OpenSSLErrors.clear() }
        var status: Int32 = 0
        let hash = unsafe X509_NAME_hash_ex(pointer, nil, nil, &status)
        self.hash = status == 1 ? UInt32(truncatingIfNeeded: hash) : 0
    }

    /// Parses a name; nil unless the bytes are exactly one name.
    convenience init?(der: ArraySlice<UInt8>) {
        OpenSSLErrors.clear()
        let name: OpaquePointer? = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            guard let name = unsafe d2i_X509_NAME(nil, &cursor, buffer.count) else { return nil }
            guard let start = buffer.baseAddress, let end = unsafe cursor, unsafe end - start == buffer.count
            else {
                unsafe X509_NAME_free(name)
                return nil
            }
            return unsafe name
        }
        unsafe self.init(owning: name)
    }

    /// Copies the subject of a certificate.
    package convenience init?(subjectOf certificate: Certificate) {
        unsafe self.init(owning: X509_NAME_dup(X509_get_subject_name(certificate.handle.pointer)))
    }

    /// Copies the issuer of a certificate.
    package convenience init?(issuerOf certificate: Certificate) {
        unsafe self.init(owning: X509_NAME_dup(X509_get_issuer_name(certificate.handle.pointer)))
    }

    deinit { unsafe X509_NAME_free(pointer) }
}

extension OpenSSLName: Hashable {
    package static func == (left: OpenSSLName, right: OpenSSLName) -> Bool {
        unsafe left.hash == right.hash && X509_NAME_cmp(left.pointer, right.pointer) == 0
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
