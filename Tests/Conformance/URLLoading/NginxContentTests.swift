// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTransport
import Testing

/// Compressed content and ranges from nginx, as a session delivers them.
@Suite struct NginxContentTests {
    private static let text = String(repeating: "All work and no play makes a dull server.\n", count: 500)

    @Test(
        "compressed content is decoded, and says so no more in its length", .timeLimit(.minutes(10)),
        arguments: ["gzip", "br"], [true, false])
    func codings(_ coding: String, _ decodes: Bool) async throws {
        let locations = """
            gzip \(coding == "gzip" ? "on" : "off"); gzip_types text/plain; gzip_min_length 1;
            brotli \(coding == "br" ? "on" : "off"); brotli_types text/plain; brotli_min_length 1;
            default_type text/plain;
            """
        try await NginxSession.with(locations, site: [("page.txt", Self.text)]) { stage in
            let session = stage.session { $0.lupine.decodesContent = decodes }
            // Without decoding only the caller can ask for a coding.
            let fields = decodes ? [:] : ["Accept-Encoding": coding]
            let (text, response) = try await stage.get("/page.txt", fields, by: session)
            session.invalidateAndCancel()
            #expect(response.value(forHTTPHeaderField: "Content-Encoding") == coding)
            #expect((text == Self.text) == decodes)
            #expect(response.expectedContentLength == -1)
        }
    }

    /// Cancels the download once in the middle, and keeps the final file.
    private final class Downloading: NSObject, URLSessionDownloadDelegate {
        private struct State {
            var parts = 0
            var file: Data?
            var resumedAt: [Int64] = []
            var written: Int64 = 0
        }

        private let state = Lock(State())
        let stopped = Gate()
        let ended = Gate()
        let resumeData = Lock<Data?>(nil)
        var file: Data? { state.withLock { $0.file } }
        var resumedAt: [Int64] { state.withLock { $0.resumedAt } }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            let isFirst = state.withLock { state in
                state.parts += 1
                return state.parts == 1
            }
            guard isFirst else { return }
            downloadTask.cancel { data in
                self.resumeData.withLock { $0 = data }
                self.stopped.open()
            }
        }
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
            expectedTotalBytes: Int64
        ) { state.withLock { $0.resumedAt.append(fileOffset) } }
        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask,
            didFinishDownloadingTo location: URL
        ) {
            let data = try? Data(contentsOf: location)
            state.withLock { $0.file = data }
        }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) { if error == nil || file != nil { ended.open() } }
    }

    @Test(
        "[U-7.13] a download goes on where it stopped, unless the file is another by now",
        .timeLimit(.minutes(10)), arguments: [false, true])
    func resumed(_ changes: Bool) async throws {
        try await NginxSession.with("limit_rate 4m;") { stage in
            let file = URL(fileURLWithPath: stage.nginx.place.folder + "/large.bin")
            let content = Data((0..<(6 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) })
            try content.write(to: file)
            let delegate = Downloading()
            let session = stage.session(delegate)
            session.downloadTask(with: try stage.url("/large.bin")).resume()
            await delegate.stopped.wait()
            let resumeData = try #require(delegate.resumeData.withLock { $0 })
            let now = changes ? Data(content.reversed() + [1]) : content
            if changes { try now.write(to: file, options: .atomic) }
            session.downloadTask(withResumeData: resumeData).resume()
            await delegate.ended.wait()
            session.invalidateAndCancel()
            #expect(delegate.file == now)
            #expect(delegate.resumedAt.count == (changes ? 0 : 1))
            #expect(delegate.resumedAt.allSatisfy { $0 > 0 && $0 < Int64(content.count) })
            let requests = try await stage.requests()
            #expect(requests.last == "/large.bin \(changes ? 200 : 206)")
        }
    }
}
