// SPDX-License-Identifier: MIT

import Foundation

/// The user's languages as language tags (RFC 5646), read from the locale in the environment variables (POSIX.1-2024, XBD 8.2).
///
/// Foundation on Linux ignores the locale: `Locale.preferredLanguages` is always `en-001`.
package enum UserLanguages {
    /// The languages of this process in order of preference, at most six. Computed once.
    package static let preferred = preferred(ProcessInfo.processInfo.environment)

    /// Returns the languages that the environment names, at most six. Returns none for the locales `C` and `POSIX`, and if no
    /// locale is set.
    ///
    /// `LC_ALL` takes precedence over `LC_MESSAGES`, and `LC_MESSAGES` over `LANG`. GNU's `LANGUAGE` lists several languages
    /// separated by colons. It counts only if a locale other than `C` is set, and then replaces the locale's language. A language
    /// with a country is followed by the language alone: for `de_AT` the result is `de-AT`, `de`.
    package static func preferred(_ environment: [String: String]) -> [String] {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"]
        let locale = variables.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let localeTag = tag(locale) else { return [] }
        let listedNames = (environment["LANGUAGE"] ?? "").prefix(maxCharacters).split(separator: ":")
        let listedTags = listedNames.compactMap { tag($0) }
        var tags: [String] = []
        for tag in listedTags.isEmpty ? [localeTag] : listedTags where !tags.contains(tag) {
            tags.append(tag)
        }
        // Inserts each language without its country behind the last tag of that language.
        for tag in tags {
            let language = primaryLanguage(tag)
            guard !tags.contains(language),
                let last = tags.lastIndex(where: { primaryLanguage($0) == language })
            else {
                continue
            }
            tags.insert(language, at: last + 1)
        }
        return Array(tags.prefix(6))
    }

    /// The maximum number of characters of `LANGUAGE` that are read. The rest is ignored.
    private static let maxCharacters = 1_000

    /// Returns the tag for a locale's name, `language[_territory][.codeset][@modifier]`; nil if it names no language.
    private static func tag(_ locale: some StringProtocol) -> String? {
        let nameAndModifier = locale.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let name = nameAndModifier[0].prefix { $0 != "." }
        let subtags = name.split(omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
        // The limit of two letters also excludes the locale `C`.
        guard let language = subtags.first, (2...8).contains(language.utf8.count), isLetters(language),
            language.uppercased() != "POSIX"
        else { return nil }
        var tag = language.lowercased()
        if nameAndModifier.count > 1, let script = scripts[nameAndModifier[1].lowercased()] {
            tag += "-" + script
        }
        if subtags.count > 1, subtags[1].utf8.count == 2, isLetters(subtags[1]) {
            tag += "-" + subtags[1].uppercased()
        }
        return tag
    }

    /// The locale modifiers that name the script of a language, with the script's subtag.
    private static let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva"]

    /// Whether the text consists of letters of ASCII.
    private static func isLetters(_ text: some StringProtocol) -> Bool {
        // The mask clears bit 0x20, which makes a lowercase letter of ASCII uppercase.
        text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0 & 0xDF) }
    }

    /// Returns the language of a tag, without script and country.
    private static func primaryLanguage(_ tag: String) -> String { String(tag.prefix { $0 != "-" }) }
}
