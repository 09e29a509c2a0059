// SPDX-License-Identifier: MIT
// What a certificate is made with.
#ifndef C_LUPINE_ISSUE_SHIM_H
#define C_LUPINE_ISSUE_SHIM_H

/// A new key on the curve P-256.
static inline EVP_PKEY *lupine_EVP_EC_gen(void) { return EVP_EC_gen("P-256"); }

/// Adds an extension, given as OpenSSL's configuration files have it. 1 if it could.
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
