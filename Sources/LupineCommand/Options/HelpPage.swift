// SPDX-License-Identifier: MIT

/// The texts of `--help` and `lupine help`, made from the table of options.
enum HelpPage {
    /// The maximum number of characters of a line of `--help`.
    private static let screenWidth = 80
    /// The number of characters that the first column of `--help` fills, with its spaces.
    private static let columnWidth = 38
    /// The number of characters that the names of an option fill in a column of `--help`, with their spaces.
    private static let nameWidth = 20

    /// Returns the text of `--help`, which fits on one screen of 24 lines. It has the most common options, in two columns.
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
        // The left column has the first half of the cells, the right one the second half.
        let rowCount = (cells.count + 1) / 2
        for row in 0..<rowCount {
            let left = cells[row]
            let right = row + rowCount < cells.count ? cells[row + rowCount] : ""
            let line = "  " + left.padded(to: columnWidth) + right
            lines.append(String(line.prefix(screenWidth)))
        }
        lines += [
            "", "lupine help ITEM   explains an option; also items, output, downloads, exit-codes",
            "lupine help options  lists all options  lupine serve, lupine demo: try it here",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a cell of the table in `--help`: the names of an option and a few words about it.
    private static func cell(_ option: Option) -> String {
        let longName = option.longNames.first.map { "--\($0)" } ?? ""
        let names = option.shortName.map { "-\($0) \(longName)" } ?? "   \(longName)"
        // The options' own summaries are too long for a column.
        let shortSummaries: [OptionName: String] = [
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
        return names.padded(to: nameWidth) + " " + (shortSummaries[option.name] ?? option.summary)
    }

    /// Returns the text of `lupine help ITEM`. Throws if there is no help for the item.
    ///
    /// - Parameter item: Any name of an option, with or without its dashes; a topic; or `options` or `all` for all options. If it
    ///   is nil, the text of `--help` is returned.
    static func page(for item: String?) throws(UsageError) -> String {
        guard let item else { return screen() }
        let word = String(item.drop(while: { $0 == "-" }))
        // With dashes the item is an option: `--output` is not the topic `output`.
        let hasDashes = item != word
        if !hasDashes, let topic = HelpTopic.all.first(where: { $0.name == word }) {
            return topic.text + "\n"
        }
        if !hasDashes, word == "options" || word == "all" { return allOptions() }
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

    /// Returns the page about an option: its synopsis, its summary and its details.
    private static func page(of option: Option) -> String {
        var text = "\(option.synopsis)\n\n\(wrapped(sentence(option.summary), indent: 4))\n"
        if !option.details.isEmpty { text += "\n\(wrapped(option.details, indent: 4))\n" }
        return text
    }

    /// Returns the synopsis and the summary of every option, by chapters.
    private static func allOptions() -> String {
        var chapters: [String] = []
        for chapter in Option.Chapter.allCases {
            var lines = [chapter.rawValue]
            for option in OptionTable.all where option.chapter == chapter {
                lines.append("  \(option.synopsis)\n      \(option.summary)")
            }
            chapters.append(lines.joined(separator: "\n"))
        }
        return chapters.joined(separator: "\n\n") + "\n"
    }

    /// Returns a summary with a capital at its beginning and a full stop at its end.
    static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + (summary.hasSuffix(".") ? "" : ".")
    }

    /// Wraps text at its spaces into lines of at most `width` characters. A longer word gets a line of its own.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - indent: The number of spaces at the beginning of each line.
    ///   - width: The maximum length of a line, with these spaces.
    static func wrapped(_ text: String, indent: Int, width: Int = 78) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        // The number of characters of `line`. `line.count` would pass over the whole line for each word.
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
    /// Returns the text, with spaces at its end if it is shorter than `length` characters.
    func padded(to length: Int) -> String {
        count >= length ? self : self + String(repeating: " ", count: length - count)
    }
}
