// SPDX-License-Identifier: MIT

import Foundation

/// The user's languages according to the locale in the environment (POSIX.1-2024, XBD 8.2), as language tags (RFC 5646).
///
/// Foundation on Linux ignores the locale: `Locale.preferredLanguages` is always `en-001`.
package enum UserLanguages {
    /// The languages of this process in order of preference, at most six. Computed once.
    package static let preferred = preferred(ProcessInfo.processInfo.environment)

    /// Returns the languages that an environment names, at most six; none for the locales `C` and `POSIX`, and if no locale is
    /// set.
    ///
    /// `LC_ALL` takes precedence over `LC_MESSAGES`, and that over `LANG`. GNU's `LANGUAGE` lists several languages separated
    /// by colons, and counts only if a locale other than `C` is set. A language without its country follows the last entry of
    /// that language: `de_AT` asks for `de-AT`, then for `de`.
    package static func preferred(_ environment: [String: String]) -> [String] {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"]
        let locale = variables.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let localeTag = tag(locale) else { return [] }
        let listed = (environment["LANGUAGE"] ?? "").prefix(maxCharacters).split(separator: ":").compactMap {
            tag($0)
        }
        var tags: [String] = []
        for tag in listed.isEmpty ? [localeTag] : listed where !tags.contains(tag) { tags.append(tag) }
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

    /// The maximum number of characters of `LANGUAGE` that are read.
    private static let maxCharacters = 1_000

    /// Returns the tag for a locale's name, `language[_territory][.codeset][@modifier]`; nil if it names no language.
    private static func tag(_ locale: some StringProtocol) -> String? {
        let nameAndModifier = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let name = nameAndModifier[0].prefix { $0 != "." }
        let parts = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
        guard let language = parts.first, (2...8).contains(language.utf8.count), isLetters(language),
            language.uppercased() != "POSIX"
        else { return nil }
        var tag = language.lowercased()
        if nameAndModifier.count > 1, let script = scripts[nameAndModifier[1].lowercased()] {
            tag += "-" + script
        }
        if parts.count > 1, parts[1].utf8.count == 2, isLetters(parts[1]) {
            tag += "-" + parts[1].uppercased()
        }
        return tag
    }

    /// The locale modifiers that name the script of a language, with the script's subtag.
    private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]

    private static func isLetters(_ text: some StringProtocol) -> Bool {
        // Without bit 0x20, a lowercase letter of ASCII becomes the uppercase one.
        text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0 & 0xDF) }
    }

    /// Returns the language of a tag, without script and country.
    private static func primary(_ tag: String) -> String { String(tag.prefix { $0 != "-" }) }
}
