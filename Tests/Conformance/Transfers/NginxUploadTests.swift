// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import LupineTestKit
import LupineTransport
import Testing

/// Large uploads, stored by nginx.
@Suite struct NginxUploadTests {
    @Test(
        "[UP-1, UP-9] a file of 1 GiB arrives as it is, and its progress only grows, to the whole",
        .timeLimit(.minutes(10)))
    func file() async throws {
        let count = 1 << 30
        let locations = """
            location /put/ { dav_methods PUT; create_full_put_path on; client_max_body_size 2g; }
            """
        try await ServerProcess.with(NginxServer(locations: locations)) { nginx in
            let folder = URL(fileURLWithPath: nginx.place.folder)
            let file = folder.appendingPathComponent("source")
            try sparse(file, count)
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            let session = Session(configuration: configuration)
            let seen = Lock<[Int64]>([])
            let totals = Lock<Set<Int64>>([])
            let quiet = DispatchQueue(label: "progress")
            let request = session.upload(file, to: nginx.url + "/put/stored", method: .put)
                .uploadProgress(queue: quiet) { progress in
                    seen.withLock { $0.append(progress.completedUnitCount) }
                    _ = totals.withLock { $0.insert(progress.totalUnitCount) }
                }
            let response = await withCheckedContinuation { continuation in
                request.response(queue: quiet) { continuation.resume(returning: $0) }
            }
            #expect(response.response?.statusCode == 201, "\(response)")
            let progress = seen.withLock { $0 }
            #expect(progress == progress.sorted() && progress.last == Int64(count) && progress.count > 10)
            #expect(totals.withLock { $0 } == [Int64(count)])
            #expect(request.uploadProgress.fractionCompleted == 1)
            let stored = try digest(ofFile: folder.appendingPathComponent("put/stored"))
            let sent = try digest(ofFile: file)
            #expect(stored != nil && stored == sent)
            session.session.invalidateAndCancel()
        }
    }

    /// Writes a sparse file with blocks of random octets, which takes little time, and whose parts differ.
    private func sparse(_ file: URL, _ count: Int) throws {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(count))
        var random = SeededRandom(seed: 11)
        let octets = Data((0..<(64 << 10)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) })
        for _ in 0..<256 {
            try handle.seek(toOffset: random.next() % UInt64(count - octets.count))
            try handle.write(contentsOf: octets)
        }
        try handle.close()
    }
}
