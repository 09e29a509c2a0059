// SPDX-License-Identifier: MIT
// llhttp's message rules, compiled from where the distribution installed it.
#if __has_include(<llhttp/http.c>) && __has_include(<llhttp.h>)
#pragma clang diagnostic ignored "-Weverything"
#include <llhttp/http.c>
#endif
