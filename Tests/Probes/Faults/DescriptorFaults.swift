// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import Lupine

/// No descriptor is left (EMFILE): operations that need one fail with an error that names the step, and work again once there are
/// some.
struct DescriptorFaults {
    let origin: FaultOrigin

    func run() async throws {
        let folder = try origin.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let upload = folder.appending(path: "upload.bin")
        try origin.alphabet(1_000).write(to: upload)
        let session = origin.session { $0.httpMaximumConnectionsPerHost = 1 }
        try await everything(session, upload, folder)

        // With an idle connection a request needs no descriptor, but a file to read or to write does.
        try await origin.check(session)
        var fillers = try useUp()
        try await origin.check(session)
        // A slow loop may have released a descriptor of the previous requests.
        fillers += fill()
        try await expect("the upload's file", ["file", "EMFILE"]) {
            try await self.upload(session, upload)
        }
        try await origin.check(session)
        fillers += fill()
        try await expect("the download's file", ["file for the download", "Too many open files"]) {
            try await download(session, folder)
        }
        // With one descriptor, for the file, there is none for the pipe that would save a copy.
        close(fillers.removeLast())
        try await download(session, folder)
        fillers += try useUp()

        // A request to another host needs a socket. An idle connection would be closed for it only in the same session.
        let other = origin.session()
        try await expect("a socket", ["descriptor left for a connection", "EMFILE"]) {
            try await origin.check(other)
        }
        try await expect("a resolver", ["EMFILE"]) { try await origin.check(other, host: "localhost") }

        // A session with its own loops: each needs an epoll instance and an eventfd.
        let own = origin.session { $0.lupine.ownEventLoops = 1 }
        try await expect("an event loop", ["EMFILE"]) { try await origin.check(own) }

        for filler in fillers { close(filler) }
        for each in [session, other, own, origin.session()] { try await everything(each, upload, folder) }
    }

    /// The process's own loops cannot be started for the first requests, nor can delayed retries and notifications: later
    /// requests have them.
    func runWithoutLoop() async throws {
        // Dispatch itself ends a process without descriptors when the main queue takes over its main thread, which Swift causes
        // concurrently.
        await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
        let fillers = try useUp()
        let session = origin.session()
        for _ in 0..<100 {
            try await expect("the first event loop", ["EMFILE"]) { try await origin.check(session) }
        }
        let retrier = Retrier { request, _, _, answer in
            answer(request.retryCount < 3 ? .retryWithDelay(0.01) : .doNotRetry)
        }
        let request = session.request(origin.url("/range/1000"), interceptor: retrier)
        let response = await request.serializingData().response
        try origin.require(response.error != nil && request.retryCount == 3, "\(request.retryCount) retries")
        for filler in fillers { close(filler) }
        try await origin.check(session)
    }

    private func everything(_ session: Session, _ file: URL, _ folder: URL) async throws {
        try await origin.check(session)
        try await upload(session, file)
        try await download(session, folder)
    }

    private func upload(_ session: Session, _ file: URL) async throws {
        let text = try await session.upload(file, to: origin.url("/hash"))
            .validate().serializingString().value
        try origin.require(text.contains("1000"), "upload: \(text)")
    }

    private func download(_ session: Session, _ folder: URL) async throws {
        let target = folder.appending(path: "target")
        let file = try await session.download(
            origin.url("/range/3000000"), to: { _, _ in (target, [.removePreviousFile]) }
        ).validate().serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: target) }
        // Only checks the size: reading the file would need a descriptor.
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        try origin.require((attributes[.size] as? NSNumber)?.intValue == 3_000_000, "download: \(attributes)")
    }

    /// Requires an error whose description contains every one of the words.
    private func expect(_ step: String, _ words: [String], _ action: () async throws -> Void) async throws {
        do {
            try await action()
        } catch {
            let text = "\(error) \((error as? AFError)?.urlError.map { "\($0)" } ?? "")"
            for word in words where !text.contains(word) {
                throw FaultProbe.Failure("\(step): not a word of \(word) in \(text)")
            }
            return
        }
        throw FaultProbe.Failure("\(step): it went on without a descriptor")
    }

    /// Lowers the limit, and takes all descriptors below it; once released, they are enough for the loops and a connection.
    private func useUp() throws -> [Int32] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { throw FaultProbe.Failure("getrlimit: \(errno)") }
        limit.rlim_cur = min(limit.rlim_cur, rlim_t(max(64, (names.compactMap { Int($0) }.max() ?? 0) + 1)))
        guard unsafe setrlimit(resource, &limit) == 0 else { throw FaultProbe.Failure("setrlimit: \(errno)") }
        return fill()
    }

    /// Takes all descriptors below the limit.
    private func fill() -> [Int32] {
        var fillers: [Int32] = []
        while true {
            let filler = dup(0)
            guard filler >= 0 else { return fillers }
            fillers.append(filler)
        }
    }
}
