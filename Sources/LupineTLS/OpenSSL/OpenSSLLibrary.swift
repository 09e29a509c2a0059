// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Initializes OpenSSL so that it stays initialized until the process ends.
///
/// By default OpenSSL frees its global state in `exit`. The threads of event loops may still decrypt data at that time, so that a
/// program that exits with open connections would crash occasionally. If other code has already initialized OpenSSL, its setting
/// remains in effect.
enum OpenSSLLibrary {
    /// Whether OpenSSL has been initialized. The first access in the process initializes it, so the library accesses this
    /// property before it calls OpenSSL.
    static let isInitialized = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
