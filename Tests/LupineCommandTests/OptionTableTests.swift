// SPDX-License-Identifier: MIT

import Testing

@testable import LupineCommand

/// Tests of the table of options, and of the help, the manual and the completions that are made from it.
struct OptionTableTests {
    @Test func everyOptionHasOneRow() {
        let names = OptionTable.all.map(\.name)
        #expect(names.count == OptionName.allCases.count)
        #expect(Set(names) == Set(OptionName.allCases))
    }

    @Test func optionNamesAreUnique() {
        let shorts = OptionTable.all.compactMap(\.shortName)
        let longNames = OptionTable.all.flatMap(\.longNames)
        #expect(Set(shorts).count == shorts.count)
        #expect(Set(longNames).count == longNames.count)
        #expect(OptionTable.all.allSatisfy { !$0.longNames.isEmpty && !$0.summary.isEmpty })
    }

    /// Checks that the letters of options have the meaning that they have in curl.
    @Test(
        arguments: [
            ("X", .request), ("o", .output), ("O", .remoteName), ("L", .location), ("i", .include),
            ("I", .head),
            ("d", .data), ("H", .header), ("u", .user), ("k", .insecure), ("x", .proxy), ("v", .verbose),
            ("s", .silent),
            ("S", .showError), ("f", .fail), ("A", .userAgent), ("b", .cookie), ("c", .cookieJar),
            ("e", .referer),
            ("w", .writeOut), ("T", .upload), ("G", .get), ("J", .remoteHeaderName), ("n", .netrc),
            ("F", .part),
            ("C", .continueAt), ("m", .maximumTime), ("D", .dumpHeader), ("E", .certificate), ("N", .stream),
        ] as [(Character, OptionName)])
    func lettersMeanWhatTheyMeanInCurl(_ letter: Character, _ name: OptionName) {
        #expect(OptionTable.option(short: letter)?.name == name)
    }

    @Test func helpFitsAScreen() {
        let lines = HelpPage.screen().split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 24)
        #expect(lines.allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: OptionTable.all.map(\.name))
    func everyOptionIsInHelpManualAndCompletions(_ name: OptionName) throws {
        let option = try #require(OptionTable.option(name))
        for long in option.longNames {
            let page = try HelpPage.page(for: "--\(long)")
            #expect(page.hasPrefix(option.synopsis))
            #expect(page.split(separator: "\n").allSatisfy { $0.count <= 80 })
            #expect(
                ShellCompletion.script(for: "bash").contains("--\(long) ")
                    || ShellCompletion.script(for: "bash").contains("--\(long)\""))
            #expect(ShellCompletion.script(for: "zsh").contains("*--\(long)["))
            #expect(ShellCompletion.script(for: "fish").contains(" -l \(long)"))
        }
        if let short = option.shortName {
            let page = try HelpPage.page(for: "-\(short)")
            #expect(page.hasPrefix(option.synopsis))
        }
        let first = try #require(option.longNames.first).replacing("-", with: "\\-")
        #expect(ManualPage.text(version: "1").contains("\\-\\-\(first)"))
    }

    @Test(arguments: [
        "items", "output", "downloads", "exit-codes", "websocket", "options", "serve", "demo",
    ])
    func topicsAreExplained(_ topic: String) throws {
        let page = try HelpPage.page(for: topic)
        #expect(page.split(separator: "\n").count > 3)
        #expect(page.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func helpForAnUnknownItemIsAnError() {
        #expect(throws: UsageError.self) { try HelpPage.page(for: "nothing") }
    }

    @Test func exitCodesAreDistinctAndDocumented() throws {
        let page = try HelpPage.page(for: "exit-codes")
        for code in ExitCode.allCases {
            #expect(page.contains("\(code.rawValue) ") && page.contains(code.meaning))
        }
        #expect(Set(ExitCode.allCases.map(\.meaning)).count == ExitCode.allCases.count)
    }
}
