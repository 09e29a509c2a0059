// SPDX-License-Identifier: MIT
// Macros that certificates and keys are read with.
#ifndef C_LUPINE_CERTIFICATE_SHIM_H
#define C_LUPINE_CERTIFICATE_SHIM_H

static inline int lupine_ERR_GET_LIB(unsigned long code) { return ERR_GET_LIB(code); }
static inline int lupine_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }

static inline int lupine_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *lupine_sk_X509_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline STACK_OF(X509) *lupine_sk_X509_new(void) { return sk_X509_new_null(); }
/// Takes over the caller's reference.
static inline int lupine_sk_X509_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
/// Gives up the stack and a reference to each of its certificates.
static inline void lupine_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

#endif
