// SPDX-License-Identifier: MIT

import LupineLoading
import Testing

@Suite("[U-9.1] Accept-Language from the locale") struct UserLanguagesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var variables: [String: String]
        var languages: [String]

        var testDescription: String {
            variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        }

        init(_ variables: [String: String], _ languages: [String]) {
            self.variables = variables
            self.languages = languages
        }
    }

    static let rows = [
        Row([:], []),
        Row(["LANG": ""], []),
        Row(["LANG": "C"], []),
        Row(["LANG": "C.UTF-8"], []),
        Row(["LANG": "POSIX"], []),
        Row(["LANG": "posix"], []),
        Row(["LANG": "de_AT.UTF-8"], ["de-AT", "de"]),
        Row(["LANG": "de_AT"], ["de-AT", "de"]),
        Row(["LANG": "de-at"], ["de-AT", "de"]),
        Row(["LANG": "DE_at@euro"], ["de-AT", "de"]),
        Row(["LANG": "de"], ["de"]),
        Row(["LANG": "gsw_CH.UTF-8"], ["gsw-CH", "gsw"]),
        Row(["LANG": "sr_RS.UTF-8@latin"], ["sr-Latn-RS", "sr"]),
        Row(["LANG": "uz_UZ@cyrillic"], ["uz-Cyrl-UZ", "uz"]),
        Row(["LANG": "ca_ES@valencia"], ["ca-ES", "ca"]),
        // The precedence of the variables.
        Row(["LANG": "de_AT.UTF-8", "LC_MESSAGES": "fr_FR.UTF-8"], ["fr-FR", "fr"]),
        Row(["LANG": "de_AT.UTF-8", "LC_ALL": "it_IT.UTF-8", "LC_MESSAGES": "fr_FR"], ["it-IT", "it"]),
        Row(["LANG": "de_AT.UTF-8", "LC_ALL": "C"], []),
        Row(["LANG": "de_AT.UTF-8", "LC_ALL": "", "LC_MESSAGES": ""], ["de-AT", "de"]),
        Row(["LANG": "de_AT.UTF-8", "LC_TIME": "fr_FR"], ["de-AT", "de"]),
        // GNU's `LANGUAGE`.
        Row(["LANG": "de_AT.UTF-8", "LANGUAGE": "de_AT:de_DE:en"], ["de-AT", "de-DE", "de", "en"]),
        Row(["LANG": "de_AT.UTF-8", "LANGUAGE": "en_GB:de"], ["en-GB", "en", "de"]),
        Row(["LANG": "de_AT.UTF-8", "LANGUAGE": "fr_FR:en:fr"], ["fr-FR", "en", "fr"]),
        Row(["LANG": "de_AT.UTF-8", "LANGUAGE": "::"], ["de-AT", "de"]),
        Row(["LANG": "de_AT.UTF-8", "LANGUAGE": "C"], ["de-AT", "de"]),
        Row(["LANG": "C.UTF-8", "LANGUAGE": "de:en"], []),
        Row(["LANGUAGE": "de:en"], []),
        Row(
            ["LANG": "de", "LANGUAGE": "de:en:fr:it:es:pt:nl:sv"], ["de", "en", "fr", "it", "es", "pt"]),
        Row(["LANG": "de", "LANGUAGE": "de_DE:de_DE:de_DE"], ["de-DE", "de"]),
        // Texts that name no locale.
        Row(["LANG": "x"], []),
        Row(["LANG": "de_AT\r\nX-Evil: 1"], ["de"]),
        Row(["LANG": "d\u{E9}_AT"], []),
        Row(["LANG": "/usr/share/locale/de"], []),
        Row(["LANG": "de_12345"], ["de"]),
        Row(["LANG": "_AT"], []),
        Row(["LANG": "@latin"], []),
    ]

    @Test(arguments: rows) func preferred(_ row: Row) {
        #expect(UserLanguages.preferred(row.variables) == row.languages)
    }
}
