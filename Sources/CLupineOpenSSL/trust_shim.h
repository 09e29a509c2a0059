// SPDX-License-Identifier: MIT
// Macros that chains, revocation lists and OCSP responses are judged with.
#ifndef C_LUPINE_TRUST_SHIM_H
#define C_LUPINE_TRUST_SHIM_H

#endif
