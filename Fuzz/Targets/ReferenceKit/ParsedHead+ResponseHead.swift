// SPDX-License-Identifier: MIT

package import LupineHTTP

extension ParsedHead {
    /// Converts a head that the codec has read.
    package init(_ head: ResponseHead, length: Int, framing: BodyFraming?, keepAlive: Bool?) {
        let names = (0..<head.fields.count).map { Array(head.fields.name(at: $0).utf8) }
        let values = (0..<head.fields.count).map { index in
            head.fields.withValue(at: index) { bytes in bytes.indices.map { bytes[$0] } }
        }
        self.init(
            length: length, isHTTP10: head.version == .http10, status: Int(head.status.code),
            reason: head.reason, names: names, values: values, framing: framing, keepAlive: keepAlive)
    }
}
