// SPDX-License-Identifier: MIT

#if !os(Linux)
#error("Lupine is a Linux library")
#endif
