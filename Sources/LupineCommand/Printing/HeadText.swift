// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Heads of messages as text for people, and as curl's `-i` has them for programs.
struct HeadText: Sendable {
    let style: Style
    /// What stands before each line.
    var margin: TerminalText = ""
    /// How lines end.
    var lineEnd: TerminalText = "\n"
    /// Values of these fields are not shown.
    var hides: Set<String> = []

    /// Fields whose values are secrets.
    static let secrets = Set(["authorization", "proxy-authorization", "cookie", "set-cookie"])
        .union(URLSessionConfiguration.LupineOptions().sensitiveFields.map { $0.lowercased() })

    func response(_ response: HTTPURLResponse) -> TerminalText {
        let wire = response.lupine
        return lines(statusLine(wire.version, response.statusCode, wire.reason), wire.fields)
    }

    func response(_ head: TransferHead) -> TerminalText {
        lines(
            statusLine(head.version.description, Int(head.status.code), head.reason),
            (0..<head.fields.count).map { (head.fields.name(at: $0), head.fields.value(at: $0)) })
    }

    private func statusLine(_ version: String, _ code: Int, _ reason: String) -> TerminalText {
        // HTTP/2 has no reason phrase (RFC 9113 §8.3.2): what is here would be the library's own.
        let status = "\(code)" + (reason.isEmpty || version == "HTTP/2" ? "" : " \(reason)")
        return "\(style.paint(version, .faint)) \(style.paint(status, Style.ink(status: code)))"
    }

    /// The head of a request, as its octets go out. One of HTTP/2 is a list of fields: its method and path make a request line,
    /// and the other pseudo-fields stay where they are.
    func request(_ head: [UInt8]) -> TerminalText {
        var lines = head.split(separator: UInt8(ascii: "\n")).map { $0.last == 0x0D ? $0.dropLast() : $0 }
            .filter { !$0.isEmpty }
        let isList = head.first == UInt8(ascii: ":")
        var words = isList ? [] : lines.isEmpty ? [] : Self.words(lines.removeFirst())
        var fields = lines.map(Self.field)
        if isList {
            let start = [":method", ":path"].map { name in fields.first { $0.name == name }?.value ?? "" }
            fields.removeAll { [":method", ":path"].contains($0.name) }
            words = start + ["HTTP/2"]
        }
        let method = style.paint(words.first ?? "", .strong)
        let version = style.paint(words.last ?? "", .faint)
        return self.lines("\(method) \(words.dropFirst().first ?? "") \(version)", fields)
    }

    private static func words(_ line: ArraySlice<UInt8>) -> [String] {
        line.split(separator: UInt8(ascii: " ")).map(text)
    }

    /// The name of a pseudo-field begins with a colon.
    private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: String) {
        let end = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        return (text(line[..<end]), text(line[end...].dropFirst().drop { $0 == UInt8(ascii: " ") }))
    }

    private static func text(_ octets: some Collection<UInt8>) -> String {
        String(decoding: octets, as: UTF8.self)
    }

    private func lines(_ first: TerminalText, _ fields: [(name: String, value: String)]) -> TerminalText {
        var text = margin + first + lineEnd
        for (name, value) in fields {
            let shown = hides.contains(name.lowercased()) ? "(hidden)" : value
            text += "\(margin)\(style.paint(name, .name)): \(shown)\(lineEnd)"
        }
        return text + "\(margin.plain.trimmingBlanks)" + lineEnd
    }
}

extension String {
    /// The text without blanks at its end.
    var trimmingBlanks: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
