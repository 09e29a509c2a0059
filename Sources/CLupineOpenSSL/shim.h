// SPDX-License-Identifier: MIT
//
// OpenSSL, and functions for what Swift cannot call: its macros, and the typed stacks, which consist of macros.
// A function that wraps a macro is named `lupine_` and the name of the macro.
#ifndef C_LUPINE_OPENSSL_H
#define C_LUPINE_OPENSSL_H

#include <openssl/opensslv.h>
#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "Lupine needs OpenSSL 3.0 or later"
#endif

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "certificate_shim.h"
#include "engine_shim.h"
#include "issue_shim.h"
#include "trust_shim.h"

#endif
