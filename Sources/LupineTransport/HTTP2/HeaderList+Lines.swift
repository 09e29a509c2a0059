// SPDX-License-Identifier: MIT

package import LupineHTTP
import LupineHTTP2

extension HeaderList {
    /// The list in the form that transfer observers receive: a line for each field, pseudo-header fields included, and then an
    /// empty line.
    var lines: [UInt8] {
        var lines: [UInt8] = []
        let octets = octets.span
        for index in indices {
            lines.append(octets, nameRange(at: index))
            lines += ": ".utf8
            lines.append(octets, valueRange(at: index))
            lines += "\r\n".utf8
        }
        return lines + "\r\n".utf8
    }
}

extension RequestHead {
    /// Returns the lines that a transfer observer would receive if this head were sent over HTTP/2. `scheme` is that of the URL,
    /// and `body` describes the content.
    package func linesOverHTTP2(scheme: String, body: OutgoingBody) throws(HTTPError) -> [UInt8] {
        try MessageEncoder.request(self, scheme: scheme, body: body).lines
    }
}
