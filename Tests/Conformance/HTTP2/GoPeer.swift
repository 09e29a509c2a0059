// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineTransport

/// The program `Peers/peer.go`. The first test that needs it compiles it, once for all tests of a suite with the trait `.goPeer`,
/// and the trait removes it after them.
final class GoPeer: Sendable {
    /// The reason why the program could not be built.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The peer of the running suite.
    @TaskLocal static var ofSuite: GoPeer?

    private let folder = NSTemporaryDirectory() + "lupine-go-" + UUID().uuidString
    private let building = Lock<Task<String, any Error>?>(nil)

    /// Returns the path of the program, after building it if necessary.
    static func program() async throws -> String {
        guard let peer = ofSuite else { throw Failure(description: "the suite has no trait .goPeer") }
        let building = peer.building.withLock { building in
            let task = building ?? Task { [folder = peer.folder] in try await build(in: folder) }
            building = task
            return task
        }
        return try await building.value
    }

    /// Compiles without network access: the program imports only Go's standard library.
    private static func build(in folder: String) async throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let program = folder + "/peer"
        let line = "exec go build -o '\(program)' '\(PeerPrograms.path("peer.go"))' >'\(folder)/log' 2>&1"
        let end = try await Program.run(
            "sh", ["-c", line],
            variables: [
                "GOCACHE": folder + "/cache", "GOPATH": folder + "/path", "GO111MODULE": "off",
                "GOFLAGS": "", "GOTOOLCHAIN": "local",
            ])
        guard end == .exited(0) else {
            let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
            throw Failure(description: "go build: \(end)\n\(log)\nScripts/setup --test installs Go")
        }
        return program
    }

    fileprivate func remove() async {
        _ = await building.withLock { $0 }?.result
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// Gives a suite its `GoPeer`.
struct GoPeerTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let peer = GoPeer()
        let result: Result<Void, any Error>
        do { result = .success(try await GoPeer.$ofSuite.withValue(peer, operation: function)) } catch {
            result = .failure(error)
        }
        await peer.remove()
        try result.get()
    }
}

extension Trait where Self == GoPeerTrait {
    /// Allows the tests of the suite to call `GoPeer.program()`.
    static var goPeer: Self { GoPeerTrait() }
}

/// Go's net/http over TLS; its windows and limits cannot be changed.
struct GoServer: ServerRecipe {
    let programs: [String]

    init(program: String) { programs = [program] }

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { [] }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [
            program, "serve", place.folder, "\(place.port)", PKI.path("good-chain.pem"),
            PKI.path("good.key"),
        ]
    }
}

/// Node's http2.
struct NodeServer: ServerRecipe {
    var isSecure = false
    /// The settings that it announces, as JSON.
    var settings = "{}"

    let programs = ["node", "nodejs"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { [] }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [program, PeerPrograms.path("peer.mjs"), place.folder, "\(place.port)", settings]
            + (isSecure ? [PKI.path("good-chain.pem"), PKI.path("good.key")] : [])
    }
}

/// hypercorn, on Python's h2.
struct HypercornServer: ServerRecipe {
    var isSecure = false

    let programs = ["python3"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { [] }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        let packages = FileManager.default.currentDirectoryPath + "/.build/python-packages"
        return [program, "-u", PeerPrograms.path("peer.py"), packages, place.folder, "\(place.port)"]
            + (isSecure ? [PKI.path("good-chain.pem"), PKI.path("good.key")] : [])
    }
}

/// The programs of this folder that are not written in Swift.
enum PeerPrograms {
    static func path(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Peers/" + name
    }
}
