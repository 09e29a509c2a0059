// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

extension SHA256Digest {
    /// The hash function, fetched once and never modified. OpenSSL would fetch `EVP_sha256()` again at each use, which takes
    /// longer than a short digest.
    nonisolated(unsafe) static let function: OpaquePointer? = {
        _ = OpenSSLLibrary.isInitialized
        return unsafe EVP_MD_fetch(nil, "SHA256", nil)
    }()

    /// Returns the digest of these bytes.
    package static func of(_ bytes: [UInt8]) -> SHA256Digest {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, written in
            var count: UInt32 = 0
            let status = unsafe bytes.withUnsafeBytes { input in
                unsafe EVP_Digest(
                    input.baseAddress, input.count, buffer.baseAddress, &count, function, nil)
            }
            precondition(status == 1 && count == byteCount, "this OpenSSL has no SHA-256")
            written = byteCount
        }
        return SHA256Digest(verified: digest)
    }
}
