// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Glibc
internal import LupineTransport

/// Removes the files of downloads that nobody will resume: those of killed programs, and parts whose resume data was neither used
/// nor discarded.
///
/// Each folder is searched once in a process, when its first download begins, on a queue of its own. A file is removed if it is a
/// regular file of the user with the name of a download, and has not been written to for a week, the default limit of a load's
/// duration.
enum AbandonedParts {
    /// How long a part is kept.
    static let age: TimeInterval = ConfigurationValues.defaultResourceTimeout

    private static let seen = Lock<Set<String>>([])
    private static let queue = DispatchQueue(label: "lupine.parts", qos: .background)

    /// Searches a folder, unless that was done before in this process.
    static func sweep(_ folder: URL) {
        guard seen.withLock({ $0.insert(folder.path).inserted }) else { return }
        queue.async { remove(in: folder, at: Date()) }
    }

    /// Removes the files in a folder that are too old.
    static func remove(in folder: URL, at now: Date) {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
        where DownloadFile.isName(name) {
            let path = folder.appendingPathComponent(name).path
            guard let attributes = try? files.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                (attributes[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid(),
                let written = attributes[.modificationDate] as? Date, now.timeIntervalSince(written) > age
            else { continue }
            try? files.removeItem(atPath: path)
        }
    }
}
