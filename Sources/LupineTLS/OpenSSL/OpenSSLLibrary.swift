// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Initializes OpenSSL so that it stays initialized until the process ends.
///
/// By default OpenSSL frees its global state in `exit`. Event loops may still be decrypting then, so that a program that exits
/// with open connections would crash occasionally. If other code has initialized OpenSSL first, its choice remains.
enum OpenSSLLibrary {
    /// Whether OpenSSL has been initialized. The first access initializes it, and each thread reads this before its first call of
    /// OpenSSL.
    static let isInitialized = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
