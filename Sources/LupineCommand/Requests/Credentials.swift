// SPDX-License-Identifier: MIT

internal import Foundation

/// A name and a password.
struct Credentials: Hashable, Sendable {
    var user: String
    var password: String

    /// `USER:PASSWORD`; without a colon the password is missing.
    init(_ text: String) {
        let halves = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        user = String(halves.first ?? "")
        password = halves.count == 2 ? String(halves[1]) : ""
    }

    init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The value of `Authorization` (RFC 7617).
    var basic: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}

/// A `.netrc`, whose entries are `machine NAME login NAME password WORD` and `default ...`, with any white space between.
struct NetrcFile: Sendable {
    private var entries: [(host: String?, credentials: Credentials)] = []

    init(_ text: String) {
        var words = Self.words(text)[...]
        var host: String??
        var login = ""
        var password = ""
        func entry() -> (host: String?, credentials: Credentials)? {
            guard let host else { return nil }
            return (host, Credentials(user: login, password: password))
        }
        while let word = words.popFirst() {
            switch word {
            case "machine", "default":
                if let entry = entry() { entries.append(entry) }
                (login, password) = ("", "")
                host = word == "machine" ? .some(words.popFirst()) : .some(nil)
            case "login": login = words.popFirst() ?? ""
            case "password": password = words.popFirst() ?? ""
            case "account": _ = words.popFirst()
            case "macdef": words = []
            default: break
            }
        }
        if let entry = entry() { entries.append(entry) }
    }

    /// The first entry for the host, else the default.
    func credentials(for host: String) -> Credentials? {
        let found =
            entries.first { $0.host?.lowercased() == host.lowercased() } ?? entries.first { $0.host == nil }
        return found?.credentials
    }

    /// Words, of which some stand in quotes; `#` begins a comment. Scalars are looked at, since a mark may combine with a quote.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" || scalar == "\r" }
        for line in text.unicodeScalars.split(separator: "\n") {
            var rest = line.drop(while: isBlank)
            while let first = rest.first, first != "#" {
                if first == "\"" {
                    var word = String.UnicodeScalarView()
                    rest = rest.dropFirst()
                    while let scalar = rest.popFirst(), scalar != "\"" {
                        word.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
                    }
                    words.append(String(word))
                } else {
                    words.append(String(rest.prefix { !isBlank($0) }))
                    rest = rest.drop { !isBlank($0) }
                }
                rest = rest.drop(while: isBlank)
            }
        }
        return words
    }
}
