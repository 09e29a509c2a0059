// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine

/// Little address space is left (RLIMIT_AS): bodies of any size can still be streamed and downloaded, and a body that is to be
/// collected fails at its limit.
struct MemoryFaults {
    let origin: FaultOrigin
    /// The number of bytes that the process may allocate in addition to its present size.
    private static let room = 256 << 20
    private static let huge = 300 << 20

    func run() async throws {
        let folder = try origin.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let session = origin.session { $0.lupine.collectedBodyLimit = 32 << 20 }
        try await origin.check(session)
        try limit()

        var count = 0
        var isRight = true
        let stream = session.streamRequest(origin.url("/range/\(Self.huge)"))
        for await part in stream.streamTask().streamingData() {
            if let data = part.value {
                for index in [data.startIndex, data.endIndex - 1] where !data.isEmpty {
                    isRight =
                        isRight
                        && data[index] == UInt8(ascii: "a") + UInt8((count + index - data.startIndex) % 26)
                }
                count += data.count
            }
            if let error = part.completion?.error { throw error }
        }
        try origin.require(
            isRight && count == Self.huge, "a stream brought \(count) bytes, right: \(isRight)")

        let target = folder.appending(path: "target")
        _ = try await session.download(origin.url("/range/\(Self.huge)"), to: { _, _ in (target, []) })
            .validate().serializingDownloadedFileURL().value
        let size = try FileManager.default.attributesOfItem(atPath: target.path)[.size] as? NSNumber
        try origin.require(size?.intValue == Self.huge, "a download of \(size ?? -1) bytes")

        // Uses a task of the loading system, which collects the body for its completion handler.
        do {
            guard let url = URL(string: origin.url("/range/\(Self.huge)")) else { return }
            let (data, _) = try await session.session.data(from: url)
            throw FaultProbe.Failure("\(data.count) bytes were collected")
        } catch let error as URLError {
            try origin.require(error.code == .dataLengthExceedsMaximum, "collected: \(error)")
        }
        try await origin.check(session)
    }

    /// Collects more than there is address space for, without a limit of its own. The process is killed by a signal at the failed
    /// allocation; it never continues with an incomplete body, which would exit with 3.
    func runOut() async throws {
        let session = origin.session()
        try await origin.check(session)
        try limit()
        guard let url = URL(string: origin.url("/range/\(Self.huge)")) else { return }
        let (data, _) = try await session.session.data(from: url)
        exit(data.count == Self.huge ? 4 : 3)
    }

    private func limit() throws {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        let most = rlim_t((Int(fields[0]) ?? 0) * Int(getpagesize()) + Self.room)
        var limit = rlimit(rlim_cur: most, rlim_max: most)
        guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
            throw FaultProbe.Failure("setrlimit: \(errno)")
        }
    }
}
