// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

extension SHA256Digest {
    /// The hash function, fetched once: with `EVP_sha256()` OpenSSL fetches it at each use, which takes longer than a short
    /// digest. Never modified.
    nonisolated(unsafe) static let function: OpaquePointer? = {
        _ = OpenSSLLibrary.stays
        return unsafe EVP_MD_fetch(nil, "SHA256", nil)
    }()

    /// Returns the digest of these bytes.
    package static func of(_ bytes: [UInt8]) -> SHA256Digest {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, written in
            var count: UInt32 = 0
            let isDone = unsafe bytes.withUnsafeBytes { input in
                unsafe EVP_Digest(
                    input.baseAddress, input.count, buffer.baseAddress, &count, function, nil)
            }
            precondition(isDone == 1 && count == byteCount, "this OpenSSL has no SHA-256")
            written = byteCount
        }
        return SHA256Digest(verified: digest)
    }
}
