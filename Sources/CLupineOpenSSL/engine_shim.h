// SPDX-License-Identifier: MIT
// Macros and callbacks for connections.
#ifndef C_LUPINE_ENGINE_SHIM_H
#define C_LUPINE_ENGINE_SHIM_H

// Options: macros with casts, which Swift does not import.
static inline uint64_t lupine_SSL_OP_NO_RENEGOTIATION(void) { return SSL_OP_NO_RENEGOTIATION; }
/// Disables compressed data and compressed certificates (RFC 8879); OpenSSL supports the latter since 3.2.
static inline uint64_t lupine_SSL_OP_NO_COMPRESSION(void) {
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
    return SSL_OP_NO_COMPRESSION | SSL_OP_NO_RX_CERTIFICATE_COMPRESSION;
#else
    return SSL_OP_NO_COMPRESSION;
#endif
}
static inline uint64_t lupine_SSL_OP_NO_TICKET(void) { return SSL_OP_NO_TICKET; }
static inline uint64_t lupine_SSL_OP_IGNORE_UNEXPECTED_EOF(void) { return SSL_OP_IGNORE_UNEXPECTED_EOF; }
static inline uint64_t lupine_SSL_OP_LEGACY_SERVER_CONNECT(void) { return SSL_OP_LEGACY_SERVER_CONNECT; }

// Settings of a context.
static inline long lupine_SSL_CTX_set_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_mode(context, mode);
}
static inline long lupine_SSL_CTX_set_read_ahead(SSL_CTX *context, long on) {
    return SSL_CTX_set_read_ahead(context, on);
}
static inline long lupine_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
static inline long lupine_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_max_proto_version(context, version);
}
static inline long lupine_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, list);
}
static inline long lupine_SSL_CTX_set_session_cache_mode(SSL_CTX *context, long mode) {
    return SSL_CTX_set_session_cache_mode(context, mode);
}
static inline long lupine_SSL_CTX_set_tlsext_status_type(SSL_CTX *context, int type) {
    return SSL_CTX_set_tlsext_status_type(context, type);
}
static inline long lupine_SSL_CTX_set_tlsext_status_cb(SSL_CTX *context, int (*callback)(SSL *, void *)) {
    return SSL_CTX_set_tlsext_status_cb(context, callback);
}
static inline long lupine_SSL_CTX_set_tlsext_status_arg(SSL_CTX *context, void *argument) {
    return SSL_CTX_set_tlsext_status_arg(context, argument);
}
static inline long lupine_SSL_CTX_set_tlsext_servername_callback(
    SSL_CTX *context, int (*callback)(SSL *, int *, void *)) {
    return SSL_CTX_set_tlsext_servername_callback(context, callback);
}
static inline long lupine_SSL_CTX_set_tlsext_servername_arg(SSL_CTX *context, void *argument) {
    return SSL_CTX_set_tlsext_servername_arg(context, argument);
}

// The security callback. OpenSSL calls it about 150 times in a handshake: for every suite, curve and signature algorithm that
// the handshake could use. It is written in C, because all calls but one are passed on to OpenSSL's own callback.
typedef int (*lupine_security_callback)(const SSL *, const SSL_CTX *, int, int, int, void *, void *);
struct lupine_strength {
    /// OpenSSL's own callback.
    lupine_security_callback default_callback;
    /// The longest accepted Diffie-Hellman group of a server, in bits.
    int group_limit;
    /// Called with the length of a group that is longer.
    void (*group_refused)(SSL *connection, int bits);
};
/// Checks a server's Diffie-Hellman group. A separate function, so that the compiler passes on all other calls with a jump.
static __attribute__((noinline)) int lupine_check_group(
    const SSL *connection, const SSL_CTX *context, int operation, int bits, int number, void *subject, void *extra) {
    const struct lupine_strength *strength = extra;
    if (connection != NULL && subject != NULL) {
        int length = EVP_PKEY_get_bits(subject);
        if (length > strength->group_limit) {
            strength->group_refused((SSL *)connection, length);
            return 0;
        }
    }
    return strength->default_callback(connection, context, operation, bits, number, subject, extra);
}
/// The security callback; `extra` is the `lupine_strength`. Returns 1 if OpenSSL may use the algorithm, else 0.
static int lupine_security_check(
    const SSL *connection, const SSL_CTX *context, int operation, int bits, int number, void *subject, void *extra) {
    const struct lupine_strength *strength = extra;
    if (operation == SSL_SECOP_TMP_DH) {
        return lupine_check_group(connection, context, operation, bits, number, subject, extra);
    }
    return strength->default_callback(connection, context, operation, bits, number, subject, extra);
}
/// Sets the security callback. `strength` must live as long as the context.
static inline void lupine_SSL_CTX_set_strength(SSL_CTX *context, struct lupine_strength *strength) {
    SSL_CTX_set0_security_ex_data(context, strength);
    SSL_CTX_set_security_callback(context, lupine_security_check);
}

// One connection.
static inline long lupine_SSL_set_tlsext_host_name(SSL *connection, const char *name) {
    return SSL_set_tlsext_host_name(connection, name);
}
/// The number of handshake messages of the peer, and of alerts of both sides, since `lupine_SSL_count_messages`. It is stored in
/// the connection's app data, a pointer that OpenSSL does not use, shifted by one: the lowest bit is that of
/// `lupine_SSL_refused_renegotiation`.
static inline size_t lupine_SSL_message_count(const SSL *connection) { return (size_t)SSL_get_app_data(connection) >> 1; }
/// Whether the peer has requested a renegotiation since `lupine_SSL_count_messages`, and OpenSSL has sent the alert
/// no_renegotiation (RFC 5246 section 7.2.2).
static inline int lupine_SSL_refused_renegotiation(const SSL *connection) { return (size_t)SSL_get_app_data(connection) & 1; }
/// Whether DER contains an elliptic curve with explicit parameters, which RFC 5480 section 2.1.1 forbids in certificates. A peer
/// can choose parameters for which each square root that OpenSSL computes while parsing takes a tenth of a second.
static inline int lupine_has_explicit_curve(const unsigned char *bytes, size_t length) {
    // Explicit parameters contain one of the object identifiers prime-field and characteristic-two-field: these octets, then 1
    // or 2. Tag and length are not compared, because OpenSSL accepts the length in any form.
    static const unsigned char field[] = {0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x01};
    for (size_t at = 0; at + sizeof field < length; at++) {
        if (bytes[at] == field[0] && memcmp(bytes + at, field, sizeof field) == 0 &&
            (bytes[at + sizeof field] == 1 || bytes[at + sizeof field] == 2)) {
            return 1;
        }
    }
    return 0;
}
/// Whether a Certificate message, with its header, has more than 64 certificates.
static inline int lupine_has_many_certificates(const unsigned char *bytes, size_t length, int has_extensions) {
    int count = 0;
    // The header (4), in TLS 1.3 an empty request context (1), and the length of the list (3). Then each certificate follows its
    // length (3); in TLS 1.3 it is followed by its extensions, which follow their length (2).
    size_t at = has_extensions ? 8 : 7;
    while (at + 3 <= length) {
        at += 3 + ((size_t)bytes[at] << 16 | (size_t)bytes[at + 1] << 8 | bytes[at + 2]);
        if (has_extensions) {
            if (at + 2 > length) break;
            at += 2 + ((size_t)bytes[at] << 8 | bytes[at + 1]);
        }
        if (++count > 64) return 1;
    }
    return 0;
}
/// Invalidates a received Certificate message that would cost too much: OpenSSL parses every key in it before it calls any other
/// callback. `bytes` are the buffer that OpenSSL parses next. With 0xFF as the first octet after the header, the message is
/// malformed in every version.
static void lupine_inspect_handshake_message(
    int is_sent, int version, int type, const void *bytes, size_t length, SSL *connection, void *argument) {
    unsigned char *message = (unsigned char *)bytes;
    if (type == SSL3_RT_HANDSHAKE && !is_sent && length > 4 && message[0] == SSL3_MT_CERTIFICATE &&
        (lupine_has_explicit_curve(message, length) ||
         lupine_has_many_certificates(message, length, SSL_version(connection) == TLS1_3_VERSION))) {
        message[4] = 0xFF;
    }
}
/// Makes OpenSSL refuse Certificate messages that cost too much to parse. Call it before the handshake.
static inline void lupine_SSL_guard_certificates(SSL *connection) {
    SSL_set_msg_callback(connection, lupine_inspect_handshake_message);
}
/// Counts a message; see `lupine_SSL_message_count`. Adding 2 leaves the lowest bit unchanged.
static void lupine_count_message(
    int is_sent, int version, int type, const void *bytes, size_t length, SSL *connection, void *argument) {
    size_t state = (size_t)SSL_get_app_data(connection);
    if (type == SSL3_RT_ALERT || (type == SSL3_RT_HANDSHAKE && !is_sent)) state += 2;
    if (type == SSL3_RT_ALERT && is_sent && length == 2 && ((const unsigned char *)bytes)[1] == SSL_AD_NO_RENEGOTIATION) state |= 1;
    SSL_set_app_data(connection, (void *)state);
}
/// Begins counting messages. Call it after the handshake: it replaces the callback of `lupine_SSL_guard_certificates`.
static inline void lupine_SSL_count_messages(SSL *connection) {
    SSL_set_msg_callback(connection, lupine_count_message);
}
static inline int lupine_SSL_set_retry_verify(SSL *connection) { return SSL_set_retry_verify(connection); }
static inline long lupine_SSL_get_tlsext_status_ocsp_resp(SSL *connection, const unsigned char **response) {
    return SSL_get_tlsext_status_ocsp_resp(connection, response);
}
/// Takes ownership of `response`, which must be allocated with `OPENSSL_malloc`.
static inline long lupine_SSL_set_tlsext_status_ocsp_resp(SSL *connection, unsigned char *response, long length) {
    return SSL_set_tlsext_status_ocsp_resp(connection, response, length);
}
static inline void *lupine_OPENSSL_malloc(size_t size) { return OPENSSL_malloc(size); }

// The flags with which a BIO reports that its last transfer has to be retried.
static inline void lupine_BIO_clear_retry_flags(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void lupine_BIO_set_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
static inline void lupine_BIO_set_retry_write(BIO *bio) { BIO_set_retry_write(bio); }

// Stacks of names.
static inline int lupine_sk_X509_NAME_num(const STACK_OF(X509_NAME) *stack) { return sk_X509_NAME_num(stack); }
static inline X509_NAME *lupine_sk_X509_NAME_value(const STACK_OF(X509_NAME) *stack, int index) {
    return sk_X509_NAME_value(stack, index);
}

// The cipher list of a context.
static inline int lupine_sk_SSL_CIPHER_num(const STACK_OF(SSL_CIPHER) *stack) { return sk_SSL_CIPHER_num(stack); }
static inline const SSL_CIPHER *lupine_sk_SSL_CIPHER_value(const STACK_OF(SSL_CIPHER) *stack, int index) {
    return sk_SSL_CIPHER_value(stack, index);
}

#endif
