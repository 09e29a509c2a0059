// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTransport
import Testing

@testable import LupineLoading

struct FileLoadTests {
    /// Runs `body` with a temporary folder.
    static func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "lupine-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }

    static func octets(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) })
    }

    static func load(_ url: URL, _ witness: HopWitness = HopWitness()) async -> HopWitness.Log {
        FileLoad(URLRequest(url: url), client: witness).start()
        return await witness.end()
    }

    @Test(
        "[U-18.1] a file has a plain response with its size and the type of its extension",
        arguments: [
            ("a.html", 5, "text/html"), ("b", 0, "application/octet-stream"),
            ("c d%.JSON", 200_001, "application/json"),
            ("e.unheard-of", 65_536, "application/octet-stream"),
        ])
    func files(name: String, size: Int, type: String) async throws {
        try await Self.withFolder { folder in
            let url = folder.appending(path: name)
            try Self.octets(size).write(to: url)
            let log = await Self.load(url)
            #expect(log.error == nil && log.body == Self.octets(size) && log.overlaps == 0)
            #expect(log.response is HTTPURLResponse == false && log.response?.mimeType == type)
            #expect(
                log.response?.expectedContentLength == Int64(size) && log.response?.textEncodingName == nil)
            #expect(log.policy == .notAllowed && log.response?.url == url)
            #expect(log.pieces.allSatisfy { 1...65_536 ~= $0.count })
        }
    }

    @Test("[U-18.1] the host is empty or localhost")
    func hosts() async throws {
        try await Self.withFolder { folder in
            let file = folder.appending(path: "a.txt")
            try Data("x".utf8).write(to: file)
            for (host, code) in [
                ("", nil), ("localhost", nil), ("LOCALHOST", nil), ("other.test", URLError.Code.badURL),
            ] {
                let url = try #require(URL(string: "file://\(host)\(file.path)"))
                let log = await Self.load(url)
                #expect(log.error?.code == code, "\(url)")
                #expect(log.text == (code == nil ? "x" : ""))
            }
        }
    }

    @Test("[U-18.1] an unreadable file fails with the reason")
    func failures() async throws {
        try await Self.withFolder { folder in
            try Data("x".utf8).write(to: folder.appending(path: "file"))
            let rows: [(String, URLError.Code)] = [
                ("none", .fileDoesNotExist), ("file/below", .fileDoesNotExist), ("", .fileIsDirectory),
                ("nul%00", .badURL),
            ]
            for (path, code) in rows {
                let url = try #require(URL(string: "file://\(folder.path)/\(path)"))
                let log = await Self.load(url)
                #expect(log.order == ["end"] && log.error?.code == code, "\(path)")
            }
            let missing = await Self.load(folder.appending(path: "none"))
            let cause = missing.error?.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(cause?.domain == NSPOSIXErrorDomain && cause?.code == 2)
            let device = await Self.load(URL(fileURLWithPath: "/dev/zero"))
            #expect(device.error?.code == .cannotOpenFile)
            // Opening a pipe without a writer would wait for one.
            let pipe = folder.appending(path: "pipe")
            try #require(unsafe mkfifo(pipe.path, 0o600) == 0)
            #expect(await Self.load(pipe).error?.code == .cannotOpenFile)
        }
        // Root may read every file, so these errors are passed to `failure` directly.
        let url = URL(fileURLWithPath: "/x")
        let refusals: [(Errno, URLError.Code)] = [
            (.accessDenied, .noPermissionsToReadFile), (.notPermitted, .noPermissionsToReadFile),
            (.isDirectory, .fileIsDirectory), (.tooManyDescriptors, .cannotOpenFile),
        ]
        for (error, code) in refusals { #expect(FileLoad.failure(error, url).code == code) }
    }

    @Test("[U-18.1] a download is a copy, and the original stays")
    func splices() async throws {
        try await Self.withFolder { folder in
            let source = folder.appending(path: "source.bin")
            let copy = folder.appending(path: "copy")
            let octets = Self.octets(3_000_000)
            try octets.write(to: source)
            let target = FileTarget(try Descriptor.writing(path: copy.path))
            let witness = HopWitness(plan: { _ in .splice(into: target) })
            let log = await Self.load(source, witness)
            #expect(
                log.error == nil && log.spliced == octets.count && log.pieces.isEmpty && log.overlaps == 0)
            #expect(try Data(contentsOf: copy) == octets && Data(contentsOf: source) == octets)
        }
    }

    @Test func anUnwritableTargetFailsTheLoad() async throws {
        try await Self.withFolder { folder in
            let source = folder.appending(path: "source.bin")
            try Self.octets(100_000).write(to: source)
            let target = FileTarget(try Descriptor.writing(path: "/dev/full"))
            let log = await Self.load(source, HopWitness(plan: { _ in .splice(into: target) }))
            #expect(log.error?.code == .cannotWriteToFile && log.spliced == 0)
        }
    }

    @Test("[U-18.3] a file is read as fast as the client accepts it, and may be suspended and cancelled")
    func backPressure() async throws {
        try await Self.withFolder { folder in
            let source = folder.appending(path: "source.bin")
            let octets = Self.octets(300_000)
            try octets.write(to: source)
            let witness = HopWitness(demand: { _ in .pause })
            let load = FileLoad(URLRequest(url: source), client: witness)
            load.start()
            await witness.dataReceived.wait()
            #expect(witness.log.value.pieces.count == 1)
            load.cancel(URLError(.cancelled))
            let log = await witness.end()
            #expect(log.order == ["response", "data", "end"] && log.error?.code == .cancelled)

            let resumer = LockedValue<FileLoad?>(nil)
            let slow = HopWitness(demand: { _ in
                // Resumes before `demand` returns: nothing may be lost.
                resumer.value?.resumeReading()
                return .more
            })
            let second = FileLoad(URLRequest(url: source), client: slow)
            resumer.set(second)
            second.setSuspended(true)
            second.start()
            #expect(slow.log.value.order.isEmpty)
            second.setSuspended(false)
            let whole = await slow.end()
            resumer.set(nil)
            #expect(whole.body == octets && whole.overlaps == 0)
        }
    }
}
