// SPDX-License-Identifier: MIT
// Macros for evaluating chains, revocation lists and OCSP responses.
#ifndef C_LUPINE_TRUST_SHIM_H
#define C_LUPINE_TRUST_SHIM_H

/// Frees the stack, but none of its certificates.
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
/// The number of names in a certificate with which OpenSSL compares a name constraint. An otherName counts as 128: it may be a
/// mailbox in UTF-8, and OpenSSL then decodes the constraint from Punycode for each comparison.
static inline long lupine_count_names(const X509 *certificate) {
    long count = X509_NAME_entry_count(X509_get_subject_name(certificate));
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    if (names != NULL) {
        for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
            count += sk_GENERAL_NAME_value(names, index)->type == GEN_OTHERNAME ? 128 : 1;
        }
        GENERAL_NAMES_free(names);
    }
    return count;
}
/// The number of name constraints in a certificate (RFC 5280 section 4.2.1.10).
static inline long lupine_count_name_constraints(const X509 *certificate) {
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(certificate, NID_name_constraints, NULL, NULL);
    if (constraints == NULL) return 0;
    long count = 0;
    if (constraints->permittedSubtrees != NULL) count += sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees);
    if (constraints->excludedSubtrees != NULL) count += sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees);
    NAME_CONSTRAINTS_free(constraints);
    return count;
}

/// The number of octets that OpenSSL copies when it first evaluates a certificate's purpose: the issuer's name for each
/// distribution point that is named relative to the issuer (type 1).
static inline long lupine_copied_name_octets(const X509 *certificate) {
    CRL_DIST_POINTS *points = X509_get_ext_d2i(certificate, NID_crl_distribution_points, NULL, NULL);
    if (points == NULL) return 0;
    long count = 0;
    for (int index = 0; index < sk_DIST_POINT_num(points); index++) {
        const DIST_POINT_NAME *name = sk_DIST_POINT_value(points, index)->distpoint;
        if (name != NULL && name->type == 1) count++;
    }
    CRL_DIST_POINTS_free(points);
    if (count == 0) return 0;
    return count * i2d_X509_NAME(X509_get_issuer_name(certificate), NULL);
}

/// The length of an RSA key's public exponent, in bits; 0 if the key has none.
static inline int lupine_rsa_exponent_bits(const EVP_PKEY *key) {
    BIGNUM *exponent = NULL;
    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) != 1) return 0;
    int bits = BN_num_bits(exponent);
    BN_free(exponent);
    return bits;
}

/// Frees the stack and its elements.
static inline void lupine_CRL_DIST_POINTS_free(CRL_DIST_POINTS *points) { CRL_DIST_POINTS_free(points); }

#endif
