// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import Testing

/// A folder for the temporary files of one session, in which nothing may be left when the session has gone.
///
/// `HostileStage` gives one to each of its sessions, so that every hostile suite counts the files of its own tests, whatever
/// others do at the same time.
struct LitterFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("litter-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    /// The paths of the files in it, folders aside.
    var files: [String] {
        guard let found = FileManager.default.enumerator(atPath: url.path) else { return [] }
        var paths: [String] = []
        while let path = found.nextObject() as? String {
            if found.fileAttributes?[.type] as? FileAttributeType != .typeDirectory { paths.append(path) }
        }
        return paths
    }

    /// Waits until nothing is there, and removes the folder; files that stay are an issue.
    ///
    /// Requests remove what was theirs after their handlers were called, so that the last file may go a moment later.
    func close(_ place: SourceLocation = #_sourceLocation) async {
        let end = ContinuousClock.now + .seconds(HostileStage.patience)
        while !files.isEmpty, ContinuousClock.now < end { await Task.yield() }
        #expect(files == [], "left behind", sourceLocation: place)
        try? FileManager.default.removeItem(at: url)
    }
}

/// Waits for the last call of a session.
final class Farewell: EventMonitor {
    private let said: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init() { (said, end) = AsyncStream.makeStream() }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { end.finish() }

    /// Returns when the session has told its delegate that it is invalid: no task will be heard of any more.
    func wait() async { for await _ in said {} }
}
