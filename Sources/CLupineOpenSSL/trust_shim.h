// SPDX-License-Identifier: MIT
// Macros that chains, revocation lists and OCSP responses are judged with.
#ifndef C_LUPINE_TRUST_SHIM_H
#define C_LUPINE_TRUST_SHIM_H

/// Gives up the stack and no certificate of it.
static inline void lupine_sk_X509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

static inline int lupine_sk_X509_REVOKED_num(const STACK_OF(X509_REVOKED) *stack) {
    return sk_X509_REVOKED_num(stack);
}
static inline X509_REVOKED *lupine_sk_X509_REVOKED_value(const STACK_OF(X509_REVOKED) *stack, int index) {
    return sk_X509_REVOKED_value(stack, index);
}

static inline int lupine_sk_DIST_POINT_num(const STACK_OF(DIST_POINT) *stack) { return sk_DIST_POINT_num(stack); }
static inline DIST_POINT *lupine_sk_DIST_POINT_value(const STACK_OF(DIST_POINT) *stack, int index) {
    return sk_DIST_POINT_value(stack, index);
}
static inline int lupine_sk_GENERAL_NAME_num(const STACK_OF(GENERAL_NAME) *stack) {
    return sk_GENERAL_NAME_num(stack);
}
static inline GENERAL_NAME *lupine_sk_GENERAL_NAME_value(const STACK_OF(GENERAL_NAME) *stack, int index) {
    return sk_GENERAL_NAME_value(stack, index);
}
/// Gives up the stack and everything in it.
static inline void lupine_CRL_DIST_POINTS_free(CRL_DIST_POINTS *points) { CRL_DIST_POINTS_free(points); }

#endif
