// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

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
        let status = "\(response.statusCode)" + (wire.reason.isEmpty ? "" : " \(wire.reason)")
        let painted = style.paint(status, Style.ink(status: response.statusCode))
        return lines("\(style.paint(wire.version, .faint)) \(painted)", wire.fields)
    }

    /// A request as it is sent. The library adds what frames the message; it stands where it goes out.
    func request(_ request: URLRequest, asksForCodings: Bool) -> TerminalText {
        let url = request.url
        var target = (url?.path(percentEncoded: true)).flatMap { $0.isEmpty ? nil : $0 } ?? "/"
        if let query = url?.query(percentEncoded: true) { target += "?\(query)" }
        var fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }.map {
            ($0.key, $0.value)
        }
        let names = Set(fields.map { $0.0.lowercased() })
        if !names.contains("host"), let url {
            let host = (url.host ?? "").contains(":") ? "[\(url.host ?? "")]" : url.host ?? ""
            fields.insert(("Host", url.port.map { "\(host):\($0)" } ?? host), at: 0)
        }
        if asksForCodings, !names.contains("accept-encoding") {
            fields.append(("Accept-Encoding", "gzip, deflate, br"))
        }
        if let body = request.httpBody, !names.contains("content-length") {
            fields.append(("Content-Length", "\(body.count)"))
        }
        let method = style.paint(request.httpMethod ?? "GET", .strong)
        return lines("\(method) \(target) \(style.paint("HTTP/1.1", .faint))", fields)
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
