// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Transfers that need a separate process: one long stream or one large form, after which the process measures its memory
/// (`stream URL MEBIBYTES KIBIBYTES`, `form URL FILE STREAMED-BYTES DIGEST KIBIBYTES`); one download, after which it looks for
/// files left behind (`download URL FOLDER EXPECTED [FILE-SIZE]`); many concurrent transfers, after which it checks its
/// descriptors (`storm URL FOLDER FILE COUNT DOWNLOADED-DIGEST UPLOADED-DIGEST`); work with secrets, whose files' permissions it
/// records (`secrets URL FOLDER`); or requests under the locale of its environment (`languages URL`).
@main struct TransferProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch (arguments.dropFirst().first, arguments.count) {
        case ("stream", 5):
            guard let size = Int(arguments[3]), let limit = Int(arguments[4]) else { misuse() }
            let scenario = StreamScenario(url: arguments[2], mebibytes: size, limit: limit)
            exit(try await scenario.staysSmall() ? 0 : 1)
        case ("download", 5), ("download", 6):
            let scenario = DownloadScenario(
                url: arguments[2], folder: URL(fileURLWithPath: arguments[3]), expected: arguments[4],
                fileSize: arguments.count > 5 ? UInt(arguments[5]) : nil)
            exit(try await scenario.leavesNothing() ? 0 : 1)
        case ("secrets", 4):
            let scenario = SecretScenario(url: arguments[2], folder: URL(fileURLWithPath: arguments[3]))
            exit(try await scenario.leavesNotes() ? 0 : 1)
        case ("languages", 3):
            exit(try await LanguageScenario(url: arguments[2]).asks() ? 0 : 1)
        case ("form", 7):
            guard let streamed = Int(arguments[4]), let limit = Int(arguments[6]) else { misuse() }
            let scenario = FormScenario(
                url: arguments[2], file: URL(fileURLWithPath: arguments[3]), streamed: streamed,
                expected: arguments[5], limit: limit)
            exit(try await scenario.staysSmall() ? 0 : 1)
        case ("storm", 8):
            guard let count = Int(arguments[5]), count > 0 else { misuse() }
            let scenario = StormScenario(
                url: arguments[2], folder: URL(fileURLWithPath: arguments[3]),
                file: URL(fileURLWithPath: arguments[4]), count: count,
                digests: (arguments[6], arguments[7]))
            exit(try await scenario.leavesNothing() ? 0 : 1)
        default: misuse()
        }
    }

    private static func misuse() -> Never {
        print("usage: lupine-transfer-probe stream URL MEBIBYTES KIBIBYTES")
        print("       lupine-transfer-probe form URL FILE STREAMED-BYTES DIGEST KIBIBYTES")
        print("       lupine-transfer-probe storm URL FOLDER FILE COUNT DOWNLOADED-DIGEST UPLOADED-DIGEST")
        print("       lupine-transfer-probe download URL FOLDER EXPECTED [FILE-SIZE]")
        print("       lupine-transfer-probe secrets URL FOLDER")
        print("       lupine-transfer-probe languages URL")
        exit(2)
    }
}
