// SPDX-License-Identifier: MIT

import Foundation

/// The languages that the user of a program reads, as the environment's locale names them (POSIX.1-2024, XBD 8.2), and as
/// tags of RFC 5646.
///
/// Foundation on Linux does not look at the locale: `Locale.preferredLanguages` is `en-001` under any.
package enum UserLanguages {
    /// The languages of this process, the one that is preferred first, six at most. Found once.
    package static let preferred = preferred(ProcessInfo.processInfo.environment)

    /// The languages that an environment names, six at most; none under the locales `C` and `POSIX`, and where no
    /// locale is set.
    ///
    /// `LC_ALL` decides before `LC_MESSAGES`, and that before `LANG`. GNU's `LANGUAGE` lists several languages between
    /// colons, and counts only where a locale other than `C` is set. A language without its country follows the last
    /// entry of that language: `de_AT` asks for `de-AT`, then for `de`.
    package static func preferred(_ environment: [String: String]) -> [String] {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"]
        let locale = variables.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let own = tag(locale) else { return [] }
        let listed = (environment["LANGUAGE"] ?? "").prefix(mostCharacters).split(separator: ":").compactMap {
            tag($0)
        }
        var tags: [String] = []
        for tag in listed.isEmpty ? [own] : listed where !tags.contains(tag) { tags.append(tag) }
        for tag in tags {
            let language = primary(tag)
            guard !tags.contains(language), let last = tags.lastIndex(where: { primary($0) == language })
            else {
                continue
            }
            tags.insert(language, at: last + 1)
        }
        return Array(tags.prefix(6))
    }

    /// How much of `LANGUAGE` is read.
    private static let mostCharacters = 1_000

    /// The tag for a locale's name, `language[_territory][.codeset][@modifier]`, or nil when it names no language.
    private static func tag(_ locale: some StringProtocol) -> String? {
        let ends = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let name = ends[0].prefix { $0 != "." }
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
        guard let language = parts.first, (2...8).contains(language.utf8.count), isLetters(language),
            language.uppercased() != "POSIX"
        else { return nil }
        var tag = language.lowercased()
        if ends.count > 1, let script = scripts[ends[1].lowercased()] { tag += "-" + script }
        if parts.count > 1, parts[1].utf8.count == 2, isLetters(parts[1]) {
            tag += "-" + parts[1].uppercased()
        }
        return tag
    }

    /// The modifiers that say in which script a language is written, with the script's subtag.
    private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]

    private static func isLetters(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { (0x41...0x5A).contains($0 & 0xDF) }
    }

    private static func primary(_ tag: String) -> String { String(tag.prefix { $0 != "-" }) }
}
