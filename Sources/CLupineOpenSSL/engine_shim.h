// SPDX-License-Identifier: MIT
// Macros that connections are run with.
#ifndef C_LUPINE_ENGINE_SHIM_H
#define C_LUPINE_ENGINE_SHIM_H

#endif
