// SPDX-License-Identifier: MIT

import Foundation
import LupineCommand
import Testing

@testable import LupineShow

/// Tests of `lupine demo` and `lupine serve`.
struct DemoTests {
    @Test func theDemoSucceeds() async throws {
        try await Shell.withTemporaryFolder { shell in
            let output = Shell.Recorder()
            let errors = Shell.Recorder()
            let context = ProcessContext(
                environment: shell.environment, folder: shell.folder, input: .init(kind: .other),
                output: .init { output.write($0) }, errors: .init { errors.write($0) })
            let code = await Demo.run([], context)
            let text = String(decoding: output.content, as: UTF8.self)
            #expect(code == 0, "\(String(decoding: errors.content, as: UTF8.self))")
            for act in Demo.acts { #expect(text.contains(act.title)) }
            #expect(text.contains("three answers, 1 refresh"))
            #expect(text.contains("requests over"))
        }
    }

    /// Checks that the code that an act shows also runs: each of its lines occurs in the source a second time.
    @Test func theShownCodeIsTheCodeThatRuns() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/LupineShow/Acts")
        for act in Demo.acts {
            let source = try String(
                contentsOf: folder.appendingPathComponent("\(act).swift"), encoding: .utf8)
            let sourceLines = source.split(separator: "\n").map {
                $0.replacing("\\\\(", with: "\\(").trimmingCharacters(in: .whitespaces)
            }
            for line in act.code.split(separator: "\n") where !line.hasPrefix("$") {
                let line = line.trimmingCharacters(in: .whitespaces)
                let count = sourceLines.filter { $0 == line || $0 == "private " + line }.count
                #expect(count >= 2, "\(act): \(line)")
            }
        }
    }

    @Test func servePrintsItsAddressAndEnds() async throws {
        try await Shell.withTemporaryFolder { shell in
            let interruption = Interruption()
            let output = Shell.Recorder { data in
                if String(decoding: data, as: UTF8.self).contains("Serving at https://127.0.0.1:") {
                    interruption.interrupt()
                }
            }
            let context = ProcessContext(
                environment: shell.environment, folder: shell.folder, input: .init(kind: .other),
                output: .init { output.write($0) }, errors: .init { _ in }, interruption: interruption)
            let code = await Serve.run(["--port", "0", "--tls"], context)
            let text = String(decoding: output.content, as: UTF8.self)
            #expect(code == 0)
            #expect(text.contains("--cacert ") && text.contains("0 requests on 0 connections"))
        }
    }

    @Test(arguments: [["--port"], ["--port", "x"], ["--nothing"], ["--host"]])
    func serveRejectsInvalidOptions(_ arguments: [String]) {
        #expect(throws: ServeOptions.ArgumentError.self) { try ServeOptions(arguments) }
    }
}
