// SPDX-License-Identifier: MIT

import CLupineHeap
import Dispatch
import Foundation
import LupineLoading

/// By how much one long body makes the process grow, in a process that does nothing else.
///
/// What counts is the peak of resident memory behind the load against what was resident before it, when a short load had
/// brought in all code that takes part.
struct MemoryScenario {
    enum Form: String {
        /// All of it into a file, which is moved to `file`.
        case download
        /// A delegate that takes its time over the first piece: as long as another long body takes on its way into a file.
        case delegate
        /// Bytes of which the first is taken, and no other for as long.
        case bytes
    }

    let form: Form
    let url: URL
    /// The most that the process may grow by, in KiB.
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
            slow.goOn()
        case .bytes:
            let (bytes, _) = try await session.bytes(from: url)
            for try await _ in bytes { break }
            try await save(beside("other"), session)
            bytes.task.cancel()
        }
        let grown = try Self.status("VmHWM:") - before
        print("\(form.rawValue): \(before) KiB before, grown by \(grown) KiB at most")
        // A sanitizer's heap says nothing of itself and keeps what was freed.
        return grown < limit || mallinfo2().uordblks == 0
    }

    /// Has a body saved, and the file removed.
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

/// Is at the first piece until it may go on.
private final class SlowDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let beginning: AsyncStream<Void>
    private let begin: AsyncStream<Void>.Continuation
    private let rest = DispatchSemaphore(value: 0)

    override init() {
        (beginning, begin) = AsyncStream.makeStream()
        super.init()
    }

    func goOn() { rest.signal() }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        begin.yield()
        rest.wait()
    }
}
