// SPDX-License-Identifier: MIT
// Functions for issuing certificates.
#ifndef C_LUPINE_ISSUE_SHIM_H
#define C_LUPINE_ISSUE_SHIM_H

/// Generates a key on the curve P-256; NULL when OpenSSL fails.
static inline EVP_PKEY *lupine_EVP_EC_gen(void) { return EVP_EC_gen("P-256"); }

/// Adds an extension, whose value has the syntax of OpenSSL's configuration files. Returns 1 on success, else 0.
static inline int lupine_add_extension(X509 *certificate, int number, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, number, value);
    if (extension == NULL) return 0;
    int added = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

#endif
