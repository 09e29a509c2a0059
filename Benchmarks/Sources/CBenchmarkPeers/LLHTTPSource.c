// SPDX-License-Identifier: MIT
// llhttp's generated state machine, compiled from the source that the distribution has installed.
#if __has_include(<llhttp/llhttp.c>) && __has_include(<llhttp.h>)
#pragma clang diagnostic ignored "-Weverything"
#include <llhttp/llhttp.c>
#endif
