// SPDX-License-Identifier: MIT

import CLupineOpenSSL
import LupineTestKit

@testable import LupineTLS

/// Certificates and identities of the tests' PKI.
enum FixtureIdentity {
    struct Unreadable: Error {
        let name: String
    }

    /// The certificates of a PEM file.
    static func certificates(_ name: String) throws -> [Certificate] {
        var all: [Certificate] = []
        try unsafe withBIO(name) { bio in
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
                all.append(unsafe Certificate(OpenSSLHandle(owning: certificate)))
            }
        }
        OpenSSLErrors.clear()
        guard !all.isEmpty else { throw Unreadable(name: name) }
        return all
    }

    /// The leaf, its chain and its key.
    static func load(_ name: String) throws -> TLSIdentity {
        let chain = try certificates("\(name)-chain.pem")
        var key: OpenSSLHandle<KeyObject>?
        try unsafe withBIO("\(name).key") { bio in
            key = unsafe OpenSSLHandle<KeyObject>(owning: PEM_read_bio_PrivateKey(bio, nil, nil, nil))
        }
        guard let key else { throw Unreadable(name: name) }
        return try TLSIdentity(
            certificate: chain[0], intermediates: Array(chain.dropFirst()), privateKey: PrivateKey(key))
    }

    /// The DER of a certificate.
    static func der(_ certificate: Certificate) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_X509(certificate.handle.pointer, &bytes)
        defer { unsafe lupine_OPENSSL_free(bytes) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    private static func withBIO(_ name: String, _ body: (OpaquePointer?) -> Void) throws {
        let bytes = try PKI.bytes(name)
        unsafe bytes.withUnsafeBytes { raw in
            let bio = unsafe BIO_new_mem_buf(raw.baseAddress, Int32(raw.count))
            unsafe body(bio)
            unsafe BIO_free(bio)
        }
    }
}
