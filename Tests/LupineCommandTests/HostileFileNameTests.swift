// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineCommand

/// Tests that neither the URL nor the server nor another user of the folder decides to which file a download is written.
@Suite(.timeLimit(.minutes(10))) struct HostileFileNameTests {
    /// Fields of a response that suggests the name `victim`.
    private static let fieldsWithName =
        "Content-Disposition: attachment; filename=\"victim\"\r\nETag: \"v1\"\r\nConnection: close\r\n"

    /// Creates a symbolic link in the folder of a shell.
    private func link(_ name: String, to target: String, in shell: Shell) throws {
        try FileManager.default.createSymbolicLink(
            atPath: shell.folder + "/" + name, withDestinationPath: shell.folder + "/" + target)
    }

    /// Checks the content of a file.
    private func expect(
        _ name: String, in shell: Shell, _ text: String, at sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let content = String(decoding: try shell.read(name), as: UTF8.self)
        #expect(content == text, sourceLocation: sourceLocation)
    }

    /// Adds a route whose response is bytes 5 to 9 of `begunworld`.
    private func addPartialRoute(to origin: LupineOrigin.Origin) {
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n"
        origin.script(
            "GET", "/x", ScriptPlan([Script([.send(head + Self.fieldsWithName + "\r\nworld"), .close])]))
    }

    @Test(arguments: ["-O -J -C -", "-J -C 5 -O"])
    func aFileWithTheServersNameIsNotResumed(_ options: String) async throws {
        try await withShell { shell, origin in
            addPartialRoute(to: origin)
            try shell.write("begun", to: "x")
            try shell.write("somebody's own", to: "victim")
            let result = await shell.run("-s -S \(options) :\(origin.port)/x")
            #expect(result.code == ExitCode.usage.rawValue, "\(result.errors)")
            #expect(result.errors.contains("-J") && result.errors.contains("-C"), "\(result.errors)")
            try expect("victim", in: shell, "somebody's own")
            try expect("x", in: shell, "begun")
        }
    }

    /// Checks that the file whose length is measured is resumed, also with options that `CommandLineReader` rejects.
    @Test func theMeasuredFileIsResumed() async throws {
        try await withShell { shell, origin in
            addPartialRoute(to: origin)
            try shell.write("begun", to: "x")
            try shell.write("somebody's own", to: "victim")
            guard
                case .fetch(var invocation) = try CommandLineReader.read([
                    "-s", "-O", "-C", "-", ":\(origin.port)/x",
                ])
            else {
                Issue.record("the line is no fetch")
                return
            }
            invocation.usesServerFileName = true
            let discarding = ProcessContext.Sink { _ in }
            let context = ProcessContext(
                environment: shell.environment, folder: shell.folder,
                input: ProcessContext.Input(kind: .other), output: discarding, errors: discarding)
            _ = await CommandRun(invocation, context).run()
            try expect("victim", in: shell, "somebody's own")
            try expect("x", in: shell, "begunworld")
        }
    }

    @Test func aRetryWithAnotherNameRemovesTheFirstFile() async throws {
        try await withShell { shell, origin in
            func head(_ name: String) -> String {
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 2\r\n"
                    + "Content-Disposition: attachment; filename=\(name)\r\n\r\n"
            }
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([.send(head("n1")), .close]), Script([.send(head("n2") + "ok"), .close]),
                ]))
            let result = await shell.run("-s -S -O -J --retry 1 --retry-delay 1 :\(origin.port)/x")
            #expect(result.code == 0, "\(result.errors)")
            let names = try FileManager.default.contentsOfDirectory(atPath: shell.folder)
            #expect(names == ["n2"])
        }
    }

    @Test func theServersNameFollowsNoLink() async throws {
        try await withShell { shell, origin in
            try link("victim", to: "elsewhere", in: shell)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
            origin.script(
                "GET", "/x", ScriptPlan([Script([.send(head + Self.fieldsWithName + "\r\nworld"), .close])]))
            let result = await shell.run("-s -S -O -J :\(origin.port)/x")
            #expect(result.code == ExitCode.write.rawValue, "\(result.errors)")
            #expect(result.errors.contains("victim"), "\(result.errors)")
            #expect(throws: (any Error).self) { try shell.read("elsewhere") }
        }
    }

    /// Checks that a retry continues the file that the first attempt has created.
    @Test func aRetryContinuesTheFileWithTheServersName() async throws {
        try await withShell { shell, origin in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + Self.fieldsWithName + "\r\n"
            origin.script(
                "GET", "/x",
                ScriptPlan([Script([.send(head), .close]), Script([.send(head + "world"), .close])]))
            let result = await shell.run("-s -S --retry 1 -O -J :\(origin.port)/x")
            #expect(result.code == 0, "\(result.errors)")
            try expect("victim", in: shell, "world")
        }
    }

    @Test(arguments: [
        "http://h.test/..%2F%CC%81x", "http://h.test/%2F%CC%81x", "http://h.test/%2F", "http://h.test/..",
        "http://h.test/a%00%CC%81b", "http://h.test/a%0A%CC%81b", "http://h.test/a%E2%80%A8b",
        "http://h.test/long", "http://h.test/a/long",
    ])
    func theNameFromAURLIsOnePathComponent(_ short: String) throws {
        let (euroSigns, combiningMarks) = (
            String(repeating: "%E2%82%AC", count: 200), String(repeating: "%CC%81", count: 300)
        )
        let address = short.replacing("a/long", with: "a" + combiningMarks)
            .replacing("long", with: euroSigns)
        let name = RemoteName.name(of: try #require(URL(string: address)))
        #expect(!name.isEmpty && name != "." && name != ".." && name.utf8.count <= 200, "\(name.utf8.count)")
        let forbidden = name.unicodeScalars.filter {
            $0 == "/" || $0.value < 0x20 || $0.properties.isWhitespace
        }
        #expect(forbidden.isEmpty, "\(name.unicodeScalars.map(\.value))")
    }

    @Test(arguments: [".\u{301}x", "..\u{301}", "...", ".bashrc", ".\u{200D}a", "/\u{301}etc", "\u{301}"])
    func theServersNameDoesNotHideTheFile(_ given: String) {
        let name = RemoteName.visibleName(given)
        #expect(
            name.utf8.first != UInt8(ascii: ".") && !name.utf8.contains(UInt8(ascii: "/")) && !name.isEmpty)
    }

    /// Checks that a server cannot give a file the name of a resume record, which could combine its octets with those of another
    /// server.
    @Test func theServersNameIsNotThatOfAResumeRecord() throws {
        #expect(RemoteName.visibleName("a.lupine-part") == "a.lupine-par_")
        let url = try #require(URL(string: "http://h.test/a.lupine-part"))
        #expect(RemoteName.name(of: url) == "a.lupine-par_")
        let long = String(repeating: "a", count: 188)
        #expect(RemoteName.visibleName(long + ".lupine-part.txt") == long + ".lupine-par_")
        #expect(RemoteName.visibleName("lupine-part") == "lupine-part")
    }

    /// Checks that `~` and `-` in a name from a URL are ordinary characters.
    @Test(arguments: ["~", "-"])
    func theNameFromAURLIsNotExpanded(_ name: String) async throws {
        try await withShell { shell, origin in
            origin.route("GET", "/\(name)") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", [UInt8]("body".utf8))
            }
            let result = await shell.run("-s -S -O :\(origin.port)/\(name)")
            #expect(result.code == 0, "\(result.errors)")
            try expect(name, in: shell, "body")
        }
    }

    // MARK: two URLs and one file

    @Test(arguments: [
        "-o same -o same", "-o same -o ./same", "-o same -o link", "-O -O", "-o same -o same --retry 2",
    ])
    func twoAddressesAreNotSavedToOneFile(_ options: String) async throws {
        try await withShell { shell, origin in
            try link("link", to: "same", in: shell)
            for (path, letter) in [("/a/same", UInt8(ascii: "a")), ("/b/same", UInt8(ascii: "b"))] {
                origin.route("GET", path) { _ throws(Refusal) in
                    try OriginResponse(200, "text/plain", [UInt8](repeating: letter, count: 300_000))
                }
            }
            let result = await shell.run(
                "-s -S \(options) :\(origin.port)/a/same http://localhost:\(origin.port)/b/same")
            #expect(result.code == ExitCode.write.rawValue, "\(result.errors)")
            #expect(result.errors.contains("same") || result.errors.contains("link"), "\(result.errors)")
            let kept = try shell.read("same")
            #expect(kept.count == 300_000 && Set(kept).count == 1)
        }
    }

    @Test func headsAndContentAreNotWrittenToOneFile() async throws {
        try await withShell { shell, origin in
            let refused = await shell.run("-D same -o same :\(origin.port)/get")
            #expect(refused.code == ExitCode.usage.rawValue && refused.errors.contains("-D"))
            let accepted = await shell.run("-s -S -D /dev/null -o /dev/null :\(origin.port)/get")
            #expect(accepted.code == 0, "\(accepted.errors)")
        }
    }

    @Test func severalURLsMayBeSavedToADevice() async throws {
        try await withShell { shell, origin in
            let url = "http://localhost:\(origin.port)/get"
            let result = await shell.run("-s -S -o /dev/null -o /dev/null \(url) \(url)")
            #expect(result.code == 0, "\(result.errors)")
        }
    }

    // MARK: the resume record

    @Test func theResumeRecordIsNotWrittenThroughALink() async throws {
        try await withShell { shell, origin in
            try shell.write("somebody's own", to: "victim")
            try link("part.lupine-part", to: "victim", in: shell)
            origin.script(
                "GET", "/x",
                ScriptPlan([
                    Script([
                        .send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 10\r\n\r\nbegun"), .close,
                    ])
                ]))
            let cut = await shell.run("-s -S -o part :\(origin.port)/x")
            #expect(cut.code == ExitCode.lost.rawValue, "\(cut.errors)")
            try expect("victim", in: shell, "somebody's own")
            let path = shell.folder + "/part.lupine-part"
            let values = try FileManager.default.attributesOfItem(atPath: path)
            #expect(values[.type] as? FileAttributeType == .typeRegular)
            #expect((values[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }
    }

    /// Checks that a link, a pipe or a folder is not read as a resume record.
    @Test(arguments: ["link", "pipe", "folder"])
    func theResumeRecordIsReadFromARegularFileOnly(_ kind: String) async throws {
        try await withShell { shell, origin in
            try shell.write("\"v2\"\n10\n", to: "other")
            let path = shell.folder + "/part.lupine-part"
            switch kind {
            case "link": try link("part.lupine-part", to: "other", in: shell)
            case "pipe":
                let end = try await Program.run("mkfifo", [path], variables: [:])
                #expect(end == .exited(0))
            default:
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            }
            #expect(ResumeRecord.read(for: shell.folder + "/part") == nil)
        }
    }
}
