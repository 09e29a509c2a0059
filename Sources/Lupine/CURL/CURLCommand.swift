// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// The components of a curl command, in order, quoted so that a shell passes the request's exact values to curl.
///
/// Passwords are hidden by default: those of credentials, in the URL too, and those in `Basic` fields, which only encode them.
struct CURLCommand {
    static let hidden = "***"

    private let showsPasswords: Bool
    private var parts = ["$ curl -v"]
    /// A shell comment that follows the URL.
    private var note = ""

    init(method: String, showsPasswords: Bool) {
        self.showsPasswords = showsPasswords
        parts.append("-X \(ShellWord.bare(method))")
    }

    /// Adds the option that restricts curl to the session's HTTP version. Adds none if an https origin may negotiate the version,
    /// as curl does by default.
    mutating func addVersion(of options: URLSessionConfiguration.LupineOptions, for url: URL) {
        let scheme = url.scheme?.lowercased()
        if options.isHTTP2Alone, scheme == "https" || scheme == "http" {
            parts.append("--http2-prior-knowledge")
        } else if options.isHTTP11Alone, scheme == "https" {
            parts.append("--http1.1")
        }
    }

    mutating func add(user: String, password: String) {
        parts.append("-u " + ShellWord.bare("\(user):\(showsPasswords ? password : Self.hidden)"))
    }

    /// Adds cookies. A value that `-b` would take for a file name is sent as a `Cookie` field instead.
    mutating func add(_ cookies: [HTTPCookie]) {
        guard !cookies.isEmpty else { return }
        let pairs = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let isFile = pairs.utf8.first == UInt8(ascii: "@") || !pairs.utf8.contains(UInt8(ascii: "="))
        parts.append(isFile ? "-H " + ShellWord.quoted("Cookie: \(pairs)") : "-b " + ShellWord.quoted(pairs))
    }

    /// Adds a field. A name that begins with `@` cannot be sent, and curl would read a file for it: such a field is left out.
    mutating func add(_ header: HTTPHeader) {
        guard header.name.utf8.first != UInt8(ascii: "@") else { return }
        parts.append("-H " + ShellWord.quoted("\(header.name): \(shown(header))"))
    }

    private func shown(_ header: HTTPHeader) -> String {
        let name = header.name.lowercased()
        guard !showsPasswords, name == "authorization" || name == "proxy-authorization",
            header.value.lowercased().hasPrefix("basic ")
        else { return header.value }
        return header.value.prefix(6) + Self.hidden
    }

    /// Adds a body if it is text, otherwise a note of its size. curl takes a value that begins with `@` for a file name, except
    /// after `--data-raw`.
    mutating func add(body: Data) {
        guard let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
            note = " # the body is not shown: \(body.count) bytes that are no text"
            return
        }
        let option = body.first == UInt8(ascii: "@") ? "--data-raw" : "-d"
        parts.append("\(option) " + ShellWord.quoted(text))
    }

    /// Returns the whole command, with the URL as its last component.
    func text(for url: URL) -> String {
        (parts + [ShellWord.quoted(address(url)) + note]).joined(separator: " \\\n\t")
    }

    private func address(_ url: URL) -> String {
        guard !showsPasswords, url.password != nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url.absoluteString }
        components.password = Self.hidden
        return components.string ?? url.absoluteString
    }
}
