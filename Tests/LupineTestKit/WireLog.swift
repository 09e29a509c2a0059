// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The events of a codec as lines in the notation of `WireCase`.
///
/// Content that arrived in several pieces is one line, so that the log does not depend on the cuts of the input.
package struct WireLog {
    package private(set) var lines: [String] = []
    private var content: [UInt8] = []

    package init() {}

    /// Adds a line.
    package mutating func add(_ line: String) {
        flush()
        lines.append(line)
    }

    /// Adds content, which is merged with content that directly precedes it.
    package mutating func add(content octets: some Sequence<UInt8>) { content += octets }

    package mutating func add(_ response: ResponseHead, _ framing: BodyFraming, keepAlive: Bool) {
        add("head \(Self.start(response)), \(Self.name(framing)), \(keepAlive ? "keep-alive" : "close")")
        add(response.fields)
    }

    package mutating func add(interim response: ResponseHead) {
        add("interim \(Self.start(response))")
        add(response.fields)
    }

    package mutating func add(_ request: RequestHead, _ framing: BodyFraming, keepAlive: Bool) {
        add(
            "head \(request.method) \(Self.name(request.target)) \(Self.version(request.version)), "
                + "\(Self.name(framing)), \(keepAlive ? "keep-alive" : "close")")
        add(request.fields)
    }

    /// Adds fields as indented lines.
    package mutating func add(_ fields: Fields) {
        for index in 0..<fields.count {
            var value: [UInt8] = []
            fields.withValue(at: index) { bytes in
                for byteIndex in bytes.indices { value.append(bytes[byteIndex]) }
            }
            add("  \(fields.name(at: index)): \(Self.escaped(value))")
        }
    }

    /// Adds pending content to the log.
    package mutating func flush() {
        if content.isEmpty { return }
        lines.append("content \"\(Self.escaped(content))\"")
        content = []
    }

    private static func start(_ response: ResponseHead) -> String {
        "\(version(response.version)) \(response.status) \"\(escaped(response.reason.utf8))\""
    }

    private static func version(_ version: HTTPVersion) -> String { version == .http10 ? "1.0" : "1.1" }

    private static func name(_ framing: BodyFraming) -> String {
        switch framing {
        case .none: "no body"
        case .length(let length): "length \(length)"
        case .chunked: "chunked"
        case .untilClose: "until close"
        case .handover: "handover"
        }
    }

    private static func name(_ target: RequestTarget) -> String {
        switch target {
        case .origin(let text): "origin \(text)"
        case .absolute(let text): "absolute \(text)"
        case .authority(let authority): "authority \(authority.host) port \(authority.port)"
        case .asterisk: "asterisk"
        }
    }

    /// Returns octets in the notation of a document.
    package static func escaped(_ octets: some Sequence<UInt8>) -> String {
        var text = ""
        for octet in octets {
            switch octet {
            case 0x0D: text += "\\r"
            case 0x0A: text += "\\n"
            case 0x09: text += "\\t"
            case 0x5C: text += "\\\\"
            case 0x20...0x7E: text += String(Unicode.Scalar(octet))
            default: text += "\\x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
            }
        }
        return text
    }
}
