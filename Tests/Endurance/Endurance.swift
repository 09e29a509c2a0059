// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Tests of long duration or large scale: `load [--quick]` opens ten thousand connections and makes five thousand concurrent
/// requests in one process, `soak SECONDS [KIND...]` looks for resources that grow under all kinds of work, or under the given
/// ones. `Scripts/load` and `Scripts/soak` build and start it.
///
/// The measured process is only a client; the origins are child processes, which it starts from the same executable (`origin
/// ...`) and which end with it. It exits with 0 if every expectation is met, with 1 and a line for each one that is not, and with
/// 2 if the machine does not allow the run.
@main struct Endurance {
    /// An expectation that is not met.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch (arguments.first, arguments.count) {
        case ("origin", _):
            guard let plan = OriginRole(arguments.dropFirst()) else { misuse() }
            try await plan.serve()
        case ("load", 1), ("load", 2):
            guard arguments.count == 1 || arguments[1] == "--quick" else { misuse() }
            try end(await LoadRun(isQuick: arguments.count == 2).run())
        case ("soak", 2...):
            let kinds = arguments.dropFirst(2).map(SoakWork.init(rawValue:))
            guard let seconds = Int(arguments[1]), seconds >= 10, !kinds.contains(nil) else { misuse() }
            let wanted = kinds.isEmpty ? SoakWork.allCases : kinds.compactMap { $0 }
            try end(await SoakRun(seconds: seconds, kinds: wanted).run())
        default: misuse()
        }
    }

    private static func end(_ failures: [String]) -> Never {
        for failure in failures.prefix(20) { print("failed: \(failure)") }
        exit(failures.isEmpty ? 0 : 1)
    }

    private static func misuse() -> Never {
        print("usage: lupine-endurance load [--quick]")
        print("       lupine-endurance soak SECONDS [KIND...]")
        print("kinds: \(SoakWork.allCases.map(\.rawValue).joined(separator: " "))")
        exit(64)
    }
}
