// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc

/// Writes to a store until it is killed: after a delay (`cookies FILE MICROSECONDS`, `cache FOLDER MICROSECONDS`), or while a
/// draft of the file exists (`draft FILE MICROSECONDS`). Or writes some rounds concurrently with other writers (`share FOLDER
/// ROUNDS`), creates many sessions and checks what they leave (`sessions URL COUNT`), or loads one long body and measures its
/// memory (`memory URL KIBIBYTES FORM FILE`).
///
/// Every round carries its number, so that the test can distinguish a complete round, or a complete entry, from parts of several.
/// The first round is always complete.
@main struct Probe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let number = Int(arguments[3]),
            arguments.count == (arguments[1] == "memory" ? 6 : 4)
        else { misuse() }
        switch arguments[1] {
        case "cookies": CookieScenario(file: arguments[2]).write(until: killer(number))
        case "draft": CookieScenario(file: arguments[2]).write(until: killer(number, drafting: arguments[2]))
        case "cache":
            // Any division gives all numbers of halves; this one gives each with long and short delays.
            CacheScenario(folder: arguments[2]).write(halves: number / 16 % 4, until: killer(number))
        case "share": CacheScenario(folder: arguments[2]).write(rounds: number)
        case "sessions":
            guard let url = URL(string: arguments[2]) else { misuse() }
            exit(try await SessionScenario(url: url, count: number).leavesNothing() ? 0 : 1)
        case "memory":
            guard let url = URL(string: arguments[2]), let form = MemoryScenario.Form(rawValue: arguments[4])
            else { misuse() }
            let scenario = MemoryScenario(
                form: form, url: url, limit: number, file: URL(filePath: arguments[5]))
            exit(try await scenario.staysSmall() ? 0 : 1)
        default: misuse()
        }
    }

    private static func misuse() -> Never {
        print("usage: lupine-loading-probe cookies FILE MICROSECONDS")
        print("       lupine-loading-probe draft FILE MICROSECONDS")
        print("       lupine-loading-probe cache FOLDER MICROSECONDS")
        print("       lupine-loading-probe share FOLDER ROUNDS")
        print("       lupine-loading-probe sessions URL COUNT")
        print("       lupine-loading-probe memory URL KIBIBYTES download|delegate|bytes FILE")
        exit(2)
    }

    /// Returns the function that a scenario calls when its first round is on the disk; the process is killed `delay` microseconds
    /// later.
    private static func killer(_ delay: Int) -> () -> Void {
        {
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                kill(getpid(), SIGKILL)
            }
        }
    }

    /// Returns the same, but it also waits for the next draft of that file, so that the process is killed during a write.
    private static func killer(_ delay: Int, drafting file: String) -> () -> Void {
        {
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) {
                let before = drafts(beside: file)
                while drafts(beside: file).isSubset(of: before) {}
                kill(getpid(), SIGKILL)
            }
        }
    }

    private static func drafts(beside file: String) -> Set<String> {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(names.filter { $0.hasPrefix(".") })
    }
}
