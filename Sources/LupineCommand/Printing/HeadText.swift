// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// The format of message heads: for people, or for programs as curl's `-i` prints them.
struct HeadText: Sendable {
    let style: Style
    /// The prefix of each line.
    var margin: TerminalText = ""
    /// The end of each line.
    var lineEnd: TerminalText = "\n"
    /// The fields whose values are not shown, in lower case.
    var hiddenFields: Set<String> = []

    /// The names of the fields whose values are secrets, in lower case.
    static let secretFields = Set(["authorization", "proxy-authorization", "cookie", "set-cookie"])
        .union(URLSessionConfiguration.LupineOptions().sensitiveFields.map { $0.lowercased() })

    /// Formats the head of a response of the library.
    func response(_ response: HTTPURLResponse) -> TerminalText {
        let head = response.lupine
        return lines(statusLine(head.version, response.statusCode, head.reason), head.fields)
    }

    /// Formats the head of a response as the transport received it.
    func response(_ head: TransferHead) -> TerminalText {
        lines(
            statusLine(head.version.description, Int(head.status.code), head.reason),
            (0..<head.fields.count).map { (head.fields.name(at: $0), head.fields.value(at: $0)) })
    }

    /// Formats the status line of a response.
    private func statusLine(_ version: String, _ code: Int, _ reason: String) -> TerminalText {
        // HTTP/2 has no reason phrase (RFC 9113 §8.3.2): the library has added `reason`, and it is not shown.
        let status = "\(code)" + (reason.isEmpty || version == "HTTP/2" ? "" : " \(reason)")
        return "\(style.paint(version, .faint)) \(style.paint(status, Style.ink(status: code)))"
    }

    /// Formats a request head from its octets as sent.
    ///
    /// The head of an HTTP/2 request is a list of field lines. Its `:method` and `:path` become a request line, and the other
    /// pseudo-header fields remain in the list.
    func request(_ head: [UInt8]) -> TerminalText {
        var headLines = head.split(separator: UInt8(ascii: "\n"))
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
            .filter { !$0.isEmpty }
        // A head of HTTP/2 begins with a pseudo-header field, whose name begins with a colon.
        let isHTTP2 = head.first == UInt8(ascii: ":")
        // The words of the request line: method, path and version.
        var words: [String] = []
        if !isHTTP2, !headLines.isEmpty { words = Self.words(headLines.removeFirst()) }
        var fields = headLines.map(Self.field)
        if isHTTP2 {
            let methodAndPath = [":method", ":path"].map { name in
                fields.first { $0.name == name }?.value ?? ""
            }
            fields.removeAll { [":method", ":path"].contains($0.name) }
            words = methodAndPath + ["HTTP/2"]
        }
        let method = style.paint(words.first ?? "", .strong)
        let version = style.paint(words.last ?? "", .faint)
        return lines("\(method) \(words.dropFirst().first ?? "") \(version)", fields)
    }

    /// Splits a line at its spaces.
    private static func words(_ line: ArraySlice<UInt8>) -> [String] {
        line.split(separator: UInt8(ascii: " ")).map(text)
    }

    /// Splits a field line at the first colon after its first octet, since the name of a pseudo-header field begins with a colon.
    private static func field(_ line: ArraySlice<UInt8>) -> (name: String, value: String) {
        let colon = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        return (text(line[..<colon]), text(line[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") }))
    }

    /// Decodes octets as UTF-8.
    private static func text(_ octets: some Collection<UInt8>) -> String {
        String(decoding: octets, as: UTF8.self)
    }

    /// Returns the lines of a head, each with its margin: the first line, the fields, and an empty line.
    private func lines(
        _ firstLine: TerminalText, _ fields: [(name: String, value: String)]
    ) -> TerminalText {
        var text = margin + firstLine + lineEnd
        for (name, value) in fields {
            let shownValue = hiddenFields.contains(name.lowercased()) ? "(hidden)" : value
            text += "\(margin)\(style.paint(name, .name)): \(shownValue)\(lineEnd)"
        }
        return text + "\(margin.plain.trimmingTrailingSpaces)" + lineEnd
    }
}

extension String {
    /// The text without trailing spaces.
    var trimmingTrailingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
