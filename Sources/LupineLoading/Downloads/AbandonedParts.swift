// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Glibc
internal import LupineTransport

/// Files of downloads that nobody will come back to: of programs that were killed, and parts whose resume data nobody has used
/// or given up.
///
/// Each folder is looked through once in a process, when its first download begins, on a thread of its own. What is removed is a
/// regular file of the user's under the name of a download, that has not been written to for a week: as long as a load may take
/// if nobody says otherwise.
enum AbandonedParts {
    /// How long a part is kept.
    static let age: TimeInterval = ConfigurationValues.defaultResourceTimeout

    private static let seen = Lock<Set<String>>([])
    private static let queue = DispatchQueue(label: "lupine.parts", qos: .background)

    /// Looks through a folder, unless that has been done.
    static func sweep(_ folder: URL) {
        guard seen.withLock({ $0.insert(folder.path).inserted }) else { return }
        queue.async { remove(in: folder, at: Date()) }
    }

    /// Removes what is too old there.
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
