// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// The library as a whole: it is to stay until the process is gone.
///
/// By itself OpenSSL frees what it has made when `exit` is called, while event loops may still be decrypting: a program
/// that ends with open connections would crash now and then. Whoever has called into OpenSSL before this house did has
/// decided otherwise, and it stays so.
enum OpenSSLLibrary {
    /// Asked for before the first call of any kind, on any thread; false when OpenSSL could not be set up.
    static let stays = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}
