// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// The components of a curl command, in their order, each written so that a shell hands curl what the request holds.
///
/// Passwords are hidden unless they are asked for: those of users, in an address too, and those that `Basic` only encodes.
struct CURLCommand {
    static let hidden = "***"

    private let showsPasswords: Bool
    private var parts = ["$ curl -v"]
    /// What stands behind the address: a comment, for a shell.
    private var note = ""

    init(method: String, showsPasswords: Bool) {
        self.showsPasswords = showsPasswords
        parts.append("-X \(ShellWord.bare(method))")
    }

    /// What keeps curl to the version of HTTP that the session is kept to; nothing where an https origin may choose, as curl
    /// lets it.
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

    /// Cookies. What curl's `-b` would take for the name of a file goes out as the field that it is.
    mutating func add(_ cookies: [HTTPCookie]) {
        guard !cookies.isEmpty else { return }
        let pairs = cookies.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        let isFile = pairs.utf8.first == UInt8(ascii: "@") || !pairs.utf8.contains(UInt8(ascii: "="))
        parts.append(isFile ? "-H " + ShellWord.quoted("Cookie: \(pairs)") : "-b " + ShellWord.quoted(pairs))
    }

    /// A field. One whose name begins with `@` could not be sent, and curl would read a file for it: it is left out.
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

    /// A body, where it is text. curl takes what begins with `@` for the name of a file, but behind `--data-raw`.
    mutating func add(body: Data) {
        guard let text = String(validating: body, as: UTF8.self), !body.contains(0) else {
            note = " # the body is not shown: \(body.count) bytes that are no text"
            return
        }
        let option = body.first == UInt8(ascii: "@") ? "--data-raw" : "-d"
        parts.append("\(option) " + ShellWord.quoted(text))
    }

    /// The whole command, with the address as its last component.
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
