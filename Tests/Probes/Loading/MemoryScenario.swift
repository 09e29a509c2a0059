// SPDX-License-Identifier: MIT

import CLupineHeap
import Dispatch
import Foundation
import LupineLoading

/// The growth of a process that loads one long body, and does nothing else.
///
/// The growth is the difference between the peak of resident memory after the load and the resident memory before it, measured
/// after a short load that has paged in the code.
struct MemoryScenario {
    enum Form: String {
        /// Loads the body into a file, which is moved to `file`.
        case download
        /// A delegate that blocks at the first piece while another long body is downloaded to a file.
        case delegate
        /// Iterates over the bytes, takes the first, and no other while another body is downloaded.
        case bytes
    }

    let form: Form
    let url: URL
    /// The permitted growth in KiB.
    let limit: Int
    let file: URL

    func staysSmall() async throws -> Bool {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        try await save(beside("small"), session)
        let before = try Self.status("VmRSS:")
        switch form {
        case .download:
            let (saved, _) = try await session.download(from: url)
            try FileManager.default.moveItem(at: saved, to: file)
        case .delegate:
            let slow = SlowDelegate()
            let other = URLSession(configuration: configuration, delegate: slow, delegateQueue: nil)
            other.dataTask(with: url).resume()
            for await _ in slow.beginning { break }
            try await save(beside("other"), session)
            other.invalidateAndCancel()
            slow.resume()
        case .bytes:
            let (bytes, _) = try await session.bytes(from: url)
            for try await _ in bytes { break }
            try await save(beside("other"), session)
            bytes.task.cancel()
        }
        let grown = try Self.status("VmHWM:") - before
        print("\(form.rawValue): \(before) KiB before, grown by \(grown) KiB at most")
        // A sanitizer's allocator reports no statistics and keeps freed memory.
        return grown < limit || mallinfo2().uordblks == 0
    }

    /// Downloads a body, and removes the file.
    private func save(_ url: URL, _ session: URLSession) async throws {
        try FileManager.default.removeItem(at: try await session.download(from: url).0)
    }

    private func beside(_ name: String) -> URL { url.deletingLastPathComponent().appending(path: name) }

    private static func status(_ name: String) throws -> Int {
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name) }), let amount = Int(line.filter(\.isNumber))
        else { throw CocoaError(.fileReadCorruptFile) }
        return amount
    }
}

/// Blocks at the first piece until `resume` is called.
private final class SlowDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let beginning: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation
    private let rest = DispatchSemaphore(value: 0)

    override init() {
        (beginning, begin) = AsyncStream.makeStream()
        super.init()
    }

    func resume() { rest.signal() }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        begin.yield()
        rest.wait()
    }
}
