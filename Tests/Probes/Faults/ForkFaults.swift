// SPDX-License-Identifier: MIT

import CLupineFaults
import Foundation
import Glibc
import Lupine

/// A host program that forks while requests are in flight. The child exits or executes another program, which inherits no
/// descriptor of the library; the parent is not affected.
struct ForkFaults {
    let origin: FaultOrigin

    func run() async throws {
        // The descriptors that the test's process left open are not checked.
        let inherited = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let folder = try origin.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let session = origin.session {
            $0.httpMaximumConnectionsPerHost = 16
            $0.urlCache = URLCache(
                memoryCapacity: 1 << 20, diskCapacity: 1 << 20, directory: folder.appending(path: "cache"))
        }
        try await origin.check(session)
        let look = """
            for each in /proc/$$/fd/*; do
                case " \(inherited.joined(separator: " ")) " in *" ${each##*/} "*) ;; *) ls -l $each; exit 9 ;; esac
            done
            """
        let origin = origin
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<12 {
                group.addTask {
                    for round in 0..<20 {
                        if index % 3 == 0 {
                            let target = folder.appending(path: "\(index)-\(round)")
                            let file = try await session.download(
                                origin.url("/range/300000"), to: { _, _ in (target, []) }
                            ).serializingDownloadedFileURL().value
                            try origin.require(
                                try Self.content(of: file) == origin.alphabet(300_000), "a download")
                        } else {
                            try await origin.check(session, 20_000)
                        }
                    }
                }
            }
            for round in 0..<20 {
                let status = round % 2 == 0 ? lupine_fork(nil, nil) : unsafe lupine_fork("/bin/sh", look)
                try origin.require(
                    status == (round % 2 == 0 ? 7 << 8 : 0),
                    "the child of round \(round) ended with \(status)")
                await Task.yield()
            }
            try await group.waitForAll()
        }
        try await origin.check(session)
    }

    /// Reads through a descriptor that no child inherits, unlike `Data(contentsOf:)`.
    private static func content(of file: URL) throws -> Data {
        let descriptor = unsafe open(file.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FaultProbe.Failure("\(file.path): errno \(errno)") }
        return try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).readToEnd() ?? Data()
    }
}
