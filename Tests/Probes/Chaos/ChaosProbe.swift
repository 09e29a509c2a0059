// SPDX-License-Identifier: MIT

import Foundation
import LupineChaos

/// Both sides of the chaos, each in a process of its own: the origin (`origin`), which prints where it is and ends with its
/// input; and the run against it (`run DOORS FOLDER ...`), whose descriptors, threads and files are nobody else's.
@main struct ChaosProbe {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        switch arguments.popFirst() {
        case "origin":
            let origin = try ChaosOrigin()
            report("\(origin.doors)")
            while readLine() != nil {}
            await origin.shutdown()
        case "run":
            guard let doors = arguments.popFirst().flatMap({ ChaosDoors($0) }),
                let folder = arguments.popFirst(), let run = ChaosRun(doors, folder, Array(arguments))
            else { misuse() }
            exit(try await run.holds() ? 0 : 1)
        default: misuse()
        }
    }

    private static func misuse() -> Never {
        report("usage: lupine-chaos-probe origin")
        report("       lupine-chaos-probe run DOORS FOLDER [--seeds N] [--requests M] [--seed S]...")
        report("                              [--tls|--plain] [--http1|--http2] [--patience SECONDS]")
        exit(2)
    }
}

/// Prints a line at once, into a file too.
func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
