// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// Builds a curl command from the components of a request, quoted so that a shell passes their exact values to curl.
///
/// Unless `showsPasswords` is set, it replaces passwords with `***`: in credentials, in the URL, and in authorization fields of
/// the `Basic` scheme. The value of such a field encodes a password without encrypting it.
struct CURLCommand {
    /// The text that replaces a password.
    static let passwordMask = "***"

    private let showsPasswords: Bool
    /// The beginning of the command and its options. Each is written on a line of its own.
    private var components = ["$ curl -v"]
    /// A shell comment, added after the URL.
    private var comment = ""

    init(method: String, showsPasswords: Bool) {
        self.showsPasswords = showsPasswords
        components.append("-X \(ShellWord.quotedIfNeeded(method))")
    }

    /// Adds the option that restricts curl to the session's only HTTP version. Adds no option if the session negotiates the
    /// version with an https origin, because curl does so by default.
    mutating func addVersion(of options: URLSessionConfiguration.LupineOptions, for url: URL) {
        let scheme = url.scheme?.lowercased()
        if options.isHTTP2Alone, scheme == "https" || scheme == "http" {
            components.append("--http2-prior-knowledge")
        } else if options.isHTTP11Alone, scheme == "https" {
            components.append("--http1.1")
        }
    }

    /// Adds a user name and a password.
    mutating func add(user: String, password: String) {
        let displayedPassword = showsPasswords ? password : Self.passwordMask
        components.append("-u " + ShellWord.quotedIfNeeded("\(user):\(displayedPassword)"))
    }

    /// Adds cookies: with the option `-b`, or as a `Cookie` field if `-b` would treat the value as a file name.
    mutating func add(_ cookies: [HTTPCookie]) {
        guard !cookies.isEmpty else { return }
        let pairs = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let looksLikeFileName =
            pairs.utf8.first == UInt8(ascii: "@") || !pairs.utf8.contains(UInt8(ascii: "="))
        if looksLikeFileName {
            components.append("-H " + ShellWord.quoted("Cookie: \(pairs)"))
        } else {
            components.append("-b " + ShellWord.quoted(pairs))
        }
    }

    /// Adds a header field. Omits a field whose name begins with `@`: such a name is not valid, and curl would take it for the
    /// name of a file to read.
    mutating func add(_ header: HTTPHeader) {
        guard header.name.utf8.first != UInt8(ascii: "@") else { return }
        components.append("-H " + ShellWord.quoted("\(header.name): \(displayedValue(of: header))"))
    }

    /// Returns the value of a field, with the credentials of the `Basic` scheme replaced.
    private func displayedValue(of header: HTTPHeader) -> String {
        let name = header.name.lowercased()
        let holdsCredentials = name == "authorization" || name == "proxy-authorization"
        guard !showsPasswords, holdsCredentials, header.value.lowercased().hasPrefix("basic ")
        else { return header.value }
        return header.value.prefix("basic ".count) + Self.passwordMask
    }

    /// Adds a body if it is text, otherwise a comment with its size. curl treats a value that begins with `@` as a file name,
    /// except after `--data-raw`.
    mutating func add(body: Data) {
        // A body with a zero byte cannot be an argument of a command.
        guard let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
            comment = " # the body is not shown: \(body.count) bytes that are no text"
            return
        }
        let option = body.first == UInt8(ascii: "@") ? "--data-raw" : "-d"
        components.append("\(option) " + ShellWord.quoted(text))
    }

    /// Returns the whole command, with the URL as its last component.
    func text(for url: URL) -> String {
        (components + [ShellWord.quoted(displayedText(of: url)) + comment]).joined(separator: " \\\n\t")
    }

    /// Returns the text of a URL, with its password replaced.
    private func displayedText(of url: URL) -> String {
        guard !showsPasswords, url.password != nil,
            var urlComponents = URLComponents(url: url, resolvingAgainstBaseURL: true)
        else { return url.absoluteString }
        urlComponents.password = Self.passwordMask
        return urlComponents.string ?? url.absoluteString
    }
}
