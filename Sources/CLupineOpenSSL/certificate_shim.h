// SPDX-License-Identifier: MIT
// Macros for reading certificates and keys.
#ifndef C_LUPINE_CERTIFICATE_SHIM_H
#define C_LUPINE_CERTIFICATE_SHIM_H

static inline int lupine_ERR_GET_LIB(unsigned long code) { return ERR_GET_LIB(code); }
static inline int lupine_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }

static inline int lupine_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *lupine_sk_X509_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline STACK_OF(X509) *lupine_sk_X509_new(void) { return sk_X509_new_null(); }
/// Takes ownership of the caller's reference.
static inline int lupine_sk_X509_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
/// Frees the stack, and releases one reference to each of its certificates.
static inline void lupine_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

static inline void lupine_sk_PKCS7_pop_free(STACK_OF(PKCS7) *stack) { sk_PKCS7_pop_free(stack, PKCS7_free); }
static inline void lupine_sk_PKCS12_SAFEBAG_pop_free(STACK_OF(PKCS12_SAFEBAG) *stack) {
    sk_PKCS12_SAFEBAG_pop_free(stack, PKCS12_SAFEBAG_free);
}

static inline unsigned long lupine_XN_FLAG_RFC2253(void) { return XN_FLAG_RFC2253; }
/// The reason number of a failure to fetch an algorithm that no provider offers.
static inline int lupine_ERR_R_UNSUPPORTED(void) { return ERR_R_UNSUPPORTED; }

static inline long lupine_BIO_get_mem_data(BIO *bio, char **data) { return BIO_get_mem_data(bio, data); }

#endif
