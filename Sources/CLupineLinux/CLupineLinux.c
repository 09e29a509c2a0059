// SPDX-License-Identifier: MIT
#include "CLupineLinux.h"
