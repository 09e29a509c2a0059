// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// An incremental digest, computed by OpenSSL, for data that does not fit into memory, such as a file.
///
/// May be used by one thread at a time.
@safe package final class RunningDigest {
    private let context: OpaquePointer
    /// Whether an `update` has failed, so that there is no digest.
    private var hasFailed = false

    /// Starts a digest; nil when the system's policy disables the function, as FIPS does MD5.
    package init?(_ function: MessageDigest) {
        let openSSLFunction =
            switch function {
            case .md5: unsafe EVP_md5()
            case .sha256: unsafe SHA256Digest.function
            case .sha512Cut256: unsafe EVP_sha512_256()
            case .sha512: unsafe EVP_sha512()
            }
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        unsafe self.context = unsafe context
        guard unsafe EVP_DigestInit_ex(context, openSSLFunction, nil) == 1 else {
            ERR_clear_error()
            return nil
        }
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Appends bytes to the data.
    package func update(_ bytes: [UInt8]) { update(bytes.span) }

    /// Appends bytes to the data. The bytes are needed only during the call.
    package func update(_ bytes: Span<UInt8>) {
        let status = unsafe bytes.withUnsafeBytes { input in
            unsafe EVP_DigestUpdate(context, input.baseAddress, input.count)
        }
        if status != 1 { hasFailed = true }
    }

    /// Returns the digest of all data; nil when OpenSSL has failed. It may be called only once.
    package func finish() -> [UInt8]? {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, written in
            var count: UInt32 = 0
            let status = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, &count)
            written = status == 1 && !hasFailed ? Int(count) : 0
        }
        if digest.isEmpty { ERR_clear_error() }
        return digest.isEmpty ? nil : digest
    }
}
