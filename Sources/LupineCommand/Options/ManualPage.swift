// SPDX-License-Identifier: MIT

/// The manual page, which `lupine manual | man -l -` shows, made from the table of options.
enum ManualPage {
    /// Returns the page in roff.
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
                lines.append(escaped(HelpPage.sentence(option.brief)))
                if !option.details.isEmpty { lines.append(escaped(option.details)) }
            }
        }
        lines.append(".SH EXIT STATUS")
        for code in ExitCode.allCases {
            lines += [".TP", ".B \(code.rawValue)", escaped(HelpPage.sentence(code.meaning))]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Escapes the characters that have a meaning in roff.
    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("`", with: "\"")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&" + plain : plain
    }
}
