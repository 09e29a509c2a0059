// SPDX-License-Identifier: MIT
// llhttp's message rules, compiled from the source that the distribution has installed.
#if __has_include(<llhttp/http.c>) && __has_include(<llhttp.h>)
#pragma clang diagnostic ignored "-Weverything"
#include <llhttp/http.c>
#endif
