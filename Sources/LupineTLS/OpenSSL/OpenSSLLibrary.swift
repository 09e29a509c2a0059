// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Keeps OpenSSL initialized until the process ends.
///
/// By default OpenSSL frees its global state in `exit`, while event loops may still be decrypting: a program that exits with open
/// connections would crash occasionally. If other code has initialized OpenSSL before, its setting remains.
enum OpenSSLLibrary {
    /// Read before the first OpenSSL call on any thread; false when OpenSSL could not be initialized.
    static let stays = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
