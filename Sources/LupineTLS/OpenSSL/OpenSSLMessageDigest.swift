// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The hash functions for Digest authentication, computed by OpenSSL: those of RFC 7616 §3.2, and SHA-512, which some servers
/// use. The digests that identify certificates and keys are `SHA256Digest`s.
package enum MessageDigest: Hashable, Sendable, CaseIterable {
    case md5
    case sha256
    /// SHA-512/256, a variant of SHA-512 whose digest is cut to 256 bits.
    case sha512Cut256
    case sha512

    /// Returns the digest of these bytes; nil when the system's policy disables the function, as FIPS does MD5.
    package func digest(of bytes: [UInt8]) -> [UInt8]? {
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, written in
            var count: UInt32 = 0
            let function =
                switch self {
                case .md5: unsafe EVP_md5()
                case .sha256: unsafe EVP_sha256()
                case .sha512Cut256: unsafe EVP_sha512_256()
                case .sha512: unsafe EVP_sha512()
                }
            let status = unsafe bytes.withUnsafeBytes { input in
                unsafe EVP_Digest(input.baseAddress, input.count, buffer.baseAddress, &count, function, nil)
            }
            written = status == 1 ? Int(count) : 0
        }
        if digest.isEmpty {
            ERR_clear_error()
            return nil
        }
        return digest
    }
}
