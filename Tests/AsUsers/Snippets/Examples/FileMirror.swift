// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// Keeps copies of files in a folder. What was cut off is gone on with, in this run or a later one.
struct FileMirror: Sendable {
    enum Outcome: Equatable, Sendable {
        case complete(bytes: Int)
        case interrupted(canResume: Bool)
    }

    let folder: URL
    let session: Session

    init(folder: URL, session: Session = .default) {
        self.folder = folder
        self.session = session
    }

    /// Fetches each file that is not here yet, four at a time.
    func mirror(_ files: [URL]) async -> [URL: Outcome] {
        await withTaskGroup(of: (URL, Outcome).self) { group in
            var outcomes: [URL: Outcome] = [:]
            var waiting = files[...]
            for _ in 0..<4 {
                guard let next = waiting.popFirst() else { break }
                group.addTask { (next, await fetch(next)) }
            }
            for await (file, outcome) in group {
                outcomes[file] = outcome
                if let next = waiting.popFirst() { group.addTask { (next, await fetch(next)) } }
            }
            return outcomes
        }
    }

    private func fetch(_ file: URL) async -> Outcome {
        let place = folder.appending(path: file.lastPathComponent)
        let resumePlace = place.appendingPathExtension("resume")
        if let size = size(of: place) { return .complete(bytes: size) }

        let destination: DownloadRequest.Destination = { _, _ in
            (place, [.createIntermediateDirectories, .removePreviousFile])
        }
        let download =
            (try? Data(contentsOf: resumePlace)).map { session.download(resumingWith: $0, to: destination) }
            ?? session.download(file, to: destination)
        let response = await download.validate().serializingDownloadedFileURL().response
        try? FileManager.default.removeItem(at: resumePlace)
        if response.error == nil { return .complete(bytes: size(of: place) ?? 0) }
        guard let resumeData = response.resumeData else { return .interrupted(canResume: false) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try resumeData.write(to: resumePlace)
            return .interrupted(canResume: true)
        } catch {
            return .interrupted(canResume: false)
        }
    }

    private func size(of place: URL) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: place.path()))?[.size] as? Int
    }
}
