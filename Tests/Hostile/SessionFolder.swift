// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import Testing

/// A folder for the temporary files of one session, which must be empty when the session has ended.
///
/// Each session of a `HostileStage` has its own folder, so that tests that run at the same time do not count each other's files.
struct SessionFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false) }

    /// The paths of the files in the folder, without folders.
    var files: [String] {
        guard let enumerator = FileManager.default.enumerator(atPath: url.path) else { return [] }
        var paths: [String] = []
        while let path = enumerator.nextObject() as? String {
            if enumerator.fileAttributes?[.type] as? FileAttributeType != .typeDirectory {
                paths.append(path)
            }
        }
        return paths
    }

    /// Waits until the folder is empty, and removes it. Records an issue if files remain.
    ///
    /// A request may call its handlers before it removes its files.
    func close(_ place: SourceLocation = #_sourceLocation) async {
        let end = ContinuousClock.now + .seconds(HostileStage.timeout)
        while !files.isEmpty, ContinuousClock.now < end { await Task.yield() }
        #expect(files == [], "temporary files remain", sourceLocation: place)
        try? FileManager.default.removeItem(at: url)
    }
}

/// Waits until a session is invalid.
final class InvalidationMonitor: EventMonitor {
    private let invalidation: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init() { (invalidation, end) = AsyncStream.makeStream() }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { end.finish() }

    /// Returns when the session has told its delegate that it is invalid: no events of tasks follow.
    func wait() async { for await _ in invalidation {} }
}
