// SPDX-License-Identifier: MIT

/// The manual page, made from the table of options. The user reads it with `lupine manual | man -l -`.
enum ManualPage {
    /// Returns the page in roff, the language of manual pages. A line that begins with a full stop is a request: `.SH` begins
    /// a section, `.TP` an entry, and `.nf` and `.fi` enclose text whose lines are not joined.
    static func text(version: String) -> String {
        var lines = [
            ".TH LUPINE 1 \"\" \"lupine \(version)\" \"User Commands\"", ".SH NAME",
            "lupine \\- an HTTP client with progress, timing and certificates", ".SH SYNOPSIS",
            ".B lupine", "[METHOD] URL [ITEM...] [OPTION...]", ".br", ".B lupine help", "[OPTION | TOPIC]",
            ".br",
            ".B lupine serve", "[\\-\\-port N] [\\-\\-tls]", ".br", ".B lupine demo", ".SH DESCRIPTION",
            "Sends a request and prints what comes. Letters mean what they mean in curl; words are curl's and",
            "HTTPie's. Content is always decoded, no redirect is followed without \\-L.",
        ]
        // The exit codes have a section of their own at the end.
        for topic in HelpTopic.all where topic.name != "exit-codes" {
            lines.append(".SH \(topic.name.uppercased())")
            lines.append(".nf")
            lines += topic.text.split(separator: "\n", omittingEmptySubsequences: false).map {
                escaped(String($0))
            }
            lines.append(".fi")
        }
        for chapter in Option.Chapter.allCases {
            lines.append(".SH OPTIONS: \(chapter.rawValue.uppercased())")
            for option in OptionTable.all where option.chapter == chapter {
                lines.append(".TP")
                lines.append(".B \(escaped(option.synopsis))")
                lines.append(escaped(HelpPage.sentence(option.summary)))
                if !option.details.isEmpty { lines.append(escaped(option.details)) }
            }
        }
        lines.append(".SH EXIT STATUS")
        for code in ExitCode.allCases {
            lines += [".TP", ".B \(code.rawValue)", escaped(HelpPage.sentence(code.meaning))]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes the characters that have a meaning in roff, and replaces backquotes, which roff prints as opening quotation marks.
    private static func escaped(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("`", with: "\"")
        // Roff would take a line that begins with a full stop or an apostrophe for a request; `\&` is an invisible character.
        let looksLikeRequest = escaped.hasPrefix(".") || escaped.hasPrefix("'")
        return looksLikeRequest ? "\\&" + escaped : escaped
    }
}
