// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import Testing

/// A folder for the temporary files of one session, which must be empty when the session has ended.
///
/// `HostileStage` gives one to each of its sessions, so that every hostile suite counts only the files of its own tests, while
/// others run at the same time.
struct LitterFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("litter-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    /// The paths of the files in the folder, without folders.
    var files: [String] {
        guard let found = FileManager.default.enumerator(atPath: url.path) else { return [] }
        var paths: [String] = []
        while let path = found.nextObject() as? String {
            if found.fileAttributes?[.type] as? FileAttributeType != .typeDirectory { paths.append(path) }
        }
        return paths
    }

    /// Waits until the folder is empty, and removes it; files that remain are recorded as an issue.
    ///
    /// Requests remove their files after their handlers are called, so the last file may be removed a moment later.
    func close(_ place: SourceLocation = #_sourceLocation) async {
        let end = ContinuousClock.now + .seconds(HostileStage.timeout)
        while !files.isEmpty, ContinuousClock.now < end { await Task.yield() }
        #expect(files == [], "left behind", sourceLocation: place)
        try? FileManager.default.removeItem(at: url)
    }
}

/// Waits for the last event of a session.
final class InvalidationMonitor: EventMonitor {
    private let events: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init() { (events, end) = AsyncStream.makeStream() }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { end.finish() }

    /// Returns when the session has told its delegate that it is invalid: no events of tasks follow.
    func wait() async { for await _ in events {} }
}
