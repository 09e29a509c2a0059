// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

extension HeaderList {
    /// The list for whoever looks at it: a line for each field, pseudo-fields among them, and an empty one.
    var lines: [UInt8] {
        var lines: [UInt8] = []
        let octets = octets.span
        for index in indices {
            lines.append(octets, nameRange(at: index))
            lines += [0x3A, 0x20]
            lines.append(octets, valueRange(at: index))
            lines += [0x0D, 0x0A]
        }
        return lines + [0x0D, 0x0A]
    }
}
