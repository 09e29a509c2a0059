// SPDX-License-Identifier: MIT

/// The text of `--help` and `lupine help`, made from the table of options.
enum HelpPage {
    /// Returns the text of `--help`, which fits on one screen: at most 24 lines of 80 characters.
    static func screen() -> String {
        var lines = [
            "lupine [METHOD] URL [ITEM...]", "",
            "  Header:value  query==value  field=value  field:=json  field@file", "",
        ]
        let everydayOptions: [OptionName] = [
            .request, .data, .header, .part, .upload, .user, .cookie, .session, .location, .proxy, .insecure,
            .pin,
            .include, .verbose, .output, .remoteName, .continueAt, .fail, .retry, .maximumTime, .timing,
            .certificates,
            .events, .toCurl, .stream, .serverSentEvents,
        ]
        let cells = everydayOptions.compactMap(OptionTable.option).map(cell)
        let half = (cells.count + 1) / 2
        for row in 0..<half {
            let left = cells[row]
            let right = row + half < cells.count ? cells[row + half] : ""
            let line = "  " + left.padded(to: 38) + right
            lines.append(String(line.prefix(80)))
        }
        lines += [
            "", "lupine help ITEM   explains an option; also items, output, downloads, exit-codes",
            "lupine help options  lists all options  lupine serve, lupine demo: try it here",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the name and a few words about an option.
    private static func cell(_ option: Option) -> String {
        let word = option.longNames.first.map { "--\($0)" } ?? ""
        let name = option.short.map { "-\($0) \(word)" } ?? "   \(word)"
        let texts: [OptionName: String] = [
            .request: "the method", .data: "a form as body", .header: "a header field",
            .part: "a multipart form",
            .upload: "upload a file", .user: "name:password", .cookie: "send cookies",
            .session: "keep cookies",
            .location: "follow redirects", .proxy: "use a proxy", .insecure: "any certificate",
            .pin: "pin a key", .include: "print the head", .verbose: "print more", .output: "save to a file",
            .remoteName: "by the URL's name", .continueAt: "continue it", .fail: "4xx, 5xx fail",
            .retry: "try again", .maximumTime: "the time limit", .timing: "print the times",
            .certificates: "print the chain", .events: "print the events", .toCurl: "print as curl",
            .stream: "print at once", .serverSentEvents: "follow events",
        ]
        return name.padded(to: 20) + " " + (texts[option.name] ?? option.brief)
    }

    /// Returns the text of `lupine help ITEM`. The item is any name of an option, a topic, or `options` for all options; the
    /// screen of `--help` if nil.
    static func page(for item: String?) throws(UsageError) -> String {
        guard let item else { return screen() }
        let word = String(item.drop(while: { $0 == "-" }))
        if item == word, let topic = HelpTopic.all.first(where: { $0.name == word }) {
            return topic.text + "\n"
        }
        if item == word, word == "options" || word == "all" { return allOptions() }
        let option =
            word.count == 1 ? word.first.flatMap(OptionTable.option(short:)) : OptionTable.option(long: word)
        guard let option else {
            if let message = ForeignOption.message(for: item) {
                return wrapped("\(sentence(message))", indent: 0) + "\n"
            }
            throw UsageError(
                "there is no help for `\(item)`: try lupine help options, items, output, downloads or exit-codes"
            )
        }
        return page(of: option)
    }

    /// Returns the page about an option.
    private static func page(of option: Option) -> String {
        var text = "\(option.synopsis)\n\n\(wrapped(sentence(option.brief), indent: 4))\n"
        if !option.details.isEmpty { text += "\n\(wrapped(option.details, indent: 4))\n" }
        return text
    }

    /// Returns the synopsis and the one-line description of every option, by chapters.
    private static func allOptions() -> String {
        Option.Chapter.allCases.map { chapter in
            let rows = OptionTable.all.filter { $0.chapter == chapter }.map { option in
                "  \(option.synopsis)\n      \(option.brief)"
            }
            return ([chapter.rawValue] + rows).joined(separator: "\n")
        }.joined(separator: "\n\n") + "\n"
    }

    /// Returns a description with a capital at its beginning and a full stop at its end.
    static func sentence(_ brief: String) -> String {
        brief.prefix(1).uppercased() + brief.dropFirst() + (brief.hasSuffix(".") ? "" : ".")
    }

    /// Wraps text into lines of at most `width` characters.
    static func wrapped(_ text: String, indent: Int, width: Int = 78) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        var length = 0
        for word in text.split(separator: " ") {
            let wordLength = word.count
            if !line.isEmpty, length + 1 + wordLength > width - indent {
                lines.append(margin + line)
                (line, length) = ("", 0)
            }
            length += line.isEmpty ? wordLength : wordLength + 1
            line += line.isEmpty ? String(word) : " \(word)"
        }
        if !line.isEmpty { lines.append(margin + line) }
        return lines.joined(separator: "\n")
    }
}

extension String {
    /// Returns the text with spaces added up to a length.
    func padded(to length: Int) -> String {
        count >= length ? self : self + String(repeating: " ", count: length - count)
    }
}
