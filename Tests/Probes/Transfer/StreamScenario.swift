// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine

/// The growth of a process that receives a long stream (`/long`), whose handler blocks until another body (`/other`) of a quarter
/// of that length has arrived; the process does nothing else.
struct StreamScenario {
    let url: String
    let mebibytes: Int
    /// The permitted growth in KiB.
    let limit: Int

    func staysSmall() async throws -> Bool {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = Session(configuration: configuration)
        let count = mebibytes << 20
        guard await received(session, "small", standing: nil) == 1 << 20 else { return false }
        let before = try ProcessMemory.resident()
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let rest = DispatchSemaphore(value: 0)
        let isFirst = Once()
        async let whole = received(session, "long") {
            guard isFirst.take() else { return }
            begin.yield()
            rest.wait()
        }
        for await _ in begun { break }
        guard await received(session, "other", standing: nil) == count / 4 else { return false }
        rest.signal()
        guard await whole == count else { return false }
        let grown = try ProcessMemory.peak() - before
        print("stream: \(before) KiB before, grown by \(grown) KiB at most")
        return grown < limit || !ProcessMemory.isMeasured
    }

    /// Returns the number of bytes that the stream of that name delivers; calls `standing` for each piece.
    private func received(_ session: Session, _ name: String, standing: (@Sendable () -> Void)?) async -> Int
    {
        let request = session.streamRequest("\(url)/\(name)")
        let bytes = Sum()
        return await withCheckedContinuation { continuation in
            request.responseStream(on: DispatchQueue(label: "handler")) { stream in
                standing?()
                if let value = stream.value { bytes.add(value.count) }
                if stream.completion != nil { continuation.resume(returning: bytes.total) }
            }
        }
    }

    /// A sum that is used only on the handler's queue.
    private final class Sum: @unchecked Sendable {
        private(set) var total = 0
        func add(_ count: Int) { total += count }
    }

    /// Returns true on the first call; used only on the handler's queue.
    private final class Once: @unchecked Sendable {
        private var isTaken = false
        func take() -> Bool {
            defer { isTaken = true }
            return !isTaken
        }
    }
}
