// SPDX-License-Identifier: MIT
// llhttp's API, compiled from the source that the distribution has installed.
#if __has_include(<llhttp/api.c>) && __has_include(<llhttp.h>)
#pragma clang diagnostic ignored "-Weverything"
#include <llhttp/api.c>
#endif
