// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

extension SHA256Digest {
    /// OpenSSL's SHA-256, fetched once and never modified. With `EVP_sha256()`, OpenSSL would fetch it again at each use, which
    /// takes longer than hashing a short input.
    nonisolated(unsafe) static let function: OpaquePointer? = {
        // The first access in the process initializes OpenSSL.
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
