// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTLS

/// Many downloads (of `/long`) and as many uploads (to `/sum`, which answers with the digest of the content) at the same time, in
/// a process that does nothing else: all content arrives complete, and the process then has the same descriptors as before.
struct StormScenario {
    let url: String
    /// The folder of the downloads; it is empty afterwards.
    let folder: URL
    /// The file that is uploaded.
    let file: URL
    /// The number of downloads, and of uploads.
    let count: Int
    /// The digests of the downloaded and of the uploaded content, in hexadecimal.
    let digests: (download: String, upload: String)

    func leavesNothing() async throws -> Bool {
        // Creates the objects that a process creates once and keeps: loops, queues, the resolver.
        guard await storm(of: min(count, 8)).isEmpty else { return false }
        let before = await settledDescriptors()
        let wrong = await storm(of: count)
        for failure in wrong.prefix(10) { print("storm: \(failure)") }
        let isBack = await isOpen(before)
        print("storm: \(before) before, \(isBack ? "the same" : "\(Self.open())") after")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        if !left.isEmpty { print("storm: \(left.count) files left") }
        return wrong.isEmpty && isBack && left.isEmpty
    }

    /// Runs `count` downloads and uploads at the same time, in a session that is dropped afterwards; returns what went wrong.
    private func storm(of count: Int) async -> [String] {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        configuration.httpMaximumConnectionsPerHost = 2 * count
        let session = Session(configuration: configuration)
        return await withTaskGroup(of: String?.self) { group in
            for index in 0..<count {
                group.addTask { await download(index, session) }
                group.addTask { await upload(index, session) }
            }
            return await group.reduce(into: []) { wrong, one in wrong += one.map { [$0] } ?? [] }
        }
    }

    private func download(_ index: Int, _ session: Session) async -> String? {
        let place = folder.appendingPathComponent("\(index)")
        let request = session.download(url + "/long", to: { _, _ in (place, []) })
        let error: AFError? = await withCheckedContinuation { continuation in
            request.response(queue: .global()) { continuation.resume(returning: $0.error) }
        }
        defer { try? FileManager.default.removeItem(at: place) }
        if let error { return "download \(index): \(error)" }
        return digest(of: place) == digests.download ? nil : "download \(index) is not what was sent"
    }

    private func upload(_ index: Int, _ session: Session) async -> String? {
        let request = session.upload(file, to: url + "/sum")
        let answer: Result<Data, AFError> = await withCheckedContinuation { continuation in
            request.responseData(queue: .global()) { continuation.resume(returning: $0.result) }
        }
        switch answer {
        case .failure(let error): return "upload \(index): \(error)"
        case .success(let octets):
            let came = octets.map { String(format: "%02x", $0) }.joined()
            return came == digests.upload ? nil : "upload \(index) arrived as \(came)"
        }
    }

    private func digest(of file: URL) -> String? {
        guard let digest = RunningDigest(.sha256), let data = try? Data(contentsOf: file) else { return nil }
        digest.update(Array(data))
        return digest.finish()?.map { String(format: "%02x", $0) }.joined()
    }

    // MARK: descriptors

    /// Returns the open descriptors once their list is unchanged for a while: the session of the warm-up has closed its own by
    /// then.
    private func settledDescriptors() async -> [String] {
        var last = Self.open()
        var unchanged = 0
        while unchanged < 50 {
            await Self.pause()
            let now = Self.open()
            unchanged = now == last ? unchanged + 1 : 0
            last = now
        }
        return last
    }

    /// Returns whether exactly these are open, after at most a minute: a session ends asynchronously.
    private func isOpen(_ expected: [String]) async -> Bool {
        for _ in 0..<6000 {
            if Self.open() == expected { return true }
            await Self.pause()
        }
        return false
    }

    /// Pauses between two readings; no result depends on the length.
    private static func pause() async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { continuation.resume() }
        }
    }

    /// Returns the open descriptors by the kernel's names, without the numbers of sockets and pipes, and without the mark of
    /// deleted files: a file that the process was started with may be deleted at any time.
    private static func open() -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return numbers.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .map { name in
            if name.hasPrefix("socket:") { return "socket" }
            if name.hasPrefix("pipe:") { return "pipe" }
            return name.hasSuffix(" (deleted)") ? String(name.dropLast(10)) : name
        }
        .sorted()
    }
}
