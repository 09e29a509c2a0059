// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// Builds a curl command from the components of a request, quoted so that a shell passes their exact values to curl.
///
/// Unless `showsPasswords` is set, it replaces passwords by `***`: those of credentials, of the URL, and of `Basic` fields, which
/// only encode them.
struct CURLCommand {
    /// The text that replaces a password.
    static let hidden = "***"

    private let showsPasswords: Bool
    private var parts = ["$ curl -v"]
    /// A shell comment, added after the URL.
    private var comment = ""

    init(method: String, showsPasswords: Bool) {
        self.showsPasswords = showsPasswords
        parts.append("-X \(ShellWord.bare(method))")
    }

    /// Adds the option that restricts curl to the session's HTTP version. Adds no option if the session and an https origin may
    /// negotiate the version, because curl does so by default.
    mutating func addVersion(of options: URLSessionConfiguration.LupineOptions, for url: URL) {
        let scheme = url.scheme?.lowercased()
        if options.isHTTP2Alone, scheme == "https" || scheme == "http" {
            parts.append("--http2-prior-knowledge")
        } else if options.isHTTP11Alone, scheme == "https" {
            parts.append("--http1.1")
        }
    }

    /// Adds a user name and a password.
    mutating func add(user: String, password: String) {
        parts.append("-u " + ShellWord.bare("\(user):\(showsPasswords ? password : Self.hidden)"))
    }

    /// Adds cookies: with the option `-b`, or as a `Cookie` field if `-b` would treat the value as a file name.
    mutating func add(_ cookies: [HTTPCookie]) {
        guard !cookies.isEmpty else { return }
        let pairs = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let looksLikeFileName =
            pairs.utf8.first == UInt8(ascii: "@") || !pairs.utf8.contains(UInt8(ascii: "="))
        if looksLikeFileName {
            parts.append("-H " + ShellWord.quoted("Cookie: \(pairs)"))
        } else {
            parts.append("-b " + ShellWord.quoted(pairs))
        }
    }

    /// Adds a field. Omits a field whose name begins with `@`: it is not a valid field name, and curl would read a file of that
    /// name.
    mutating func add(_ header: HTTPHeader) {
        guard header.name.utf8.first != UInt8(ascii: "@") else { return }
        parts.append("-H " + ShellWord.quoted("\(header.name): \(displayedValue(of: header))"))
    }

    /// Returns the value of a field, with the credentials of the `Basic` scheme hidden.
    private func displayedValue(of header: HTTPHeader) -> String {
        let name = header.name.lowercased()
        guard !showsPasswords, name == "authorization" || name == "proxy-authorization",
            header.value.lowercased().hasPrefix("basic ")
        else { return header.value }
        return header.value.prefix("basic ".count) + Self.hidden
    }

    /// Adds a body if it is text, otherwise a comment with its size. curl treats a value that begins with `@` as a file name,
    /// except after `--data-raw`.
    mutating func add(body: Data) {
        guard let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
            comment = " # the body is not shown: \(body.count) bytes that are no text"
            return
        }
        let option = body.first == UInt8(ascii: "@") ? "--data-raw" : "-d"
        parts.append("\(option) " + ShellWord.quoted(text))
    }

    /// Returns the whole command, with the URL as its last component.
    func text(for url: URL) -> String {
        (parts + [ShellWord.quoted(displayedText(of: url)) + comment]).joined(separator: " \\\n\t")
    }

    /// Returns the text of a URL, with its password hidden.
    private func displayedText(of url: URL) -> String {
        guard !showsPasswords, url.password != nil,
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url.absoluteString }
        components.password = Self.hidden
        return components.string ?? url.absoluteString
    }
}
