// SPDX-License-Identifier: MIT

package import LupineHTTP
import LupineHTTP2

extension HeaderList {
    /// The list as an observer is shown it: a line for each field, including pseudo-fields, and an empty line.
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

extension RequestHead {
    /// Returns the lines that an observer is shown for this head over HTTP/2, without sending it. `scheme` is that of its URL.
    package func linesOverHTTP2(scheme: String, body: OutgoingBody) throws(HTTPError) -> [UInt8] {
        try MessageEncoder.request(self, scheme: scheme, body: body).lines
    }
}
