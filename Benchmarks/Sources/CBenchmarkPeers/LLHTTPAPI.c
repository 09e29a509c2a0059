// SPDX-License-Identifier: MIT
// llhttp's face, compiled from where the distribution installed it.
#if __has_include(<llhttp/api.c>) && __has_include(<llhttp.h>)
#pragma clang diagnostic ignored "-Weverything"
#include <llhttp/api.c>
#endif
