// SPDX-License-Identifier: MIT
//
// nghttp2, which the tests of LupineHTTP2 compare with. Nothing of the library's is linked to it.
#ifndef C_NGHTTP2_SHIM_H
#define C_NGHTTP2_SHIM_H

#include <nghttp2/nghttp2.h>

#endif
