// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// A digest that is made piece by piece, by OpenSSL: for what does not fit into memory, such as a file.
///
/// It belongs to one thread at a time.
@safe package final class RunningDigest {
    private let context: OpaquePointer
    private var isBroken = false

    /// Begins; nil where the system's policy forbids the function, as FIPS does MD5.
    package init?(_ function: MessageDigest) {
        let native =
            switch function {
            case .md5: unsafe EVP_md5()
            case .sha256: unsafe SHA256Digest.function
            case .sha512Cut256: unsafe EVP_sha512_256()
            }
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        unsafe self.context = unsafe context
        guard unsafe EVP_DigestInit_ex(context, native, nil) == 1 else {
            ERR_clear_error()
            return nil
        }
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    /// Takes the next piece.
    package func update(_ bytes: [UInt8]) { update(bytes.span) }

    /// Takes the next piece, which is lent for the call.
    package func update(_ bytes: Span<UInt8>) {
        let isDone = unsafe bytes.withUnsafeBytes { input in
            unsafe EVP_DigestUpdate(context, input.baseAddress, input.count)
        }
        if isDone != 1 { isBroken = true }
    }

    /// The digest of all pieces; nil when OpenSSL failed. Called once.
    package func finish() -> [UInt8]? {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, written in
            var count: UInt32 = 0
            let isDone = unsafe EVP_DigestFinal_ex(context, buffer.baseAddress, &count)
            written = isDone == 1 && !isBroken ? Int(count) : 0
        }
        if digest.isEmpty { ERR_clear_error() }
        return digest.isEmpty ? nil : digest
    }
}
