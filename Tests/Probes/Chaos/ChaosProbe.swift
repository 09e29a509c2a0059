// SPDX-License-Identifier: MIT

import Foundation
import LupineChaos

/// The two processes of a chaos run: the origin (`origin`), which prints its doors and ends with its input, and the client (`run
/// DOORS FOLDER ...`), which has its descriptors, threads and files for itself.
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

/// Prints a line without buffering, also to a file.
func report(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
