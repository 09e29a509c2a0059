// SPDX-License-Identifier: MIT

package import LupineHTTP
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

extension RequestHead {
    /// The lines that an observer is shown of it over HTTP/2, without its being sent. `scheme` is that of its URL.
    package func linesOverHTTP2(scheme: String, body: OutgoingBody) throws(HTTPError) -> [UInt8] {
        try MessageEncoder.request(self, scheme: scheme, body: body).lines
    }
}
