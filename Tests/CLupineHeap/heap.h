// SPDX-License-Identifier: MIT
//
// What the heap says of itself (mallinfo2), which the Glibc module leaves out. For the tests' probe only.
#ifndef C_LUPINE_HEAP_H
#define C_LUPINE_HEAP_H

#include <malloc.h>

#endif
