// SPDX-License-Identifier: MIT
// llhttp's generated machine, compiled from where the distribution installed it.
#if __has_include(<llhttp/llhttp.c>) && __has_include(<llhttp.h>)
#pragma clang diagnostic ignored "-Weverything"
#include <llhttp/llhttp.c>
#endif
