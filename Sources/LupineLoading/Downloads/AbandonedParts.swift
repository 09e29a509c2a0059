// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Glibc
internal import LupineTransport

/// Removes abandoned temporary files of downloads: those of killed programs, and parts whose resume data was neither used nor
/// discarded.
///
/// Each folder is searched once in a process, on a background queue, when the first download into it begins. A file is removed if
/// it is a regular file of the user, has the name of a download's file, and has not been written to for a week, which is the
/// default time limit of a load.
enum AbandonedParts {
    /// How long after its last write a file is kept.
    static let age: TimeInterval = ConfigurationValues.defaultResourceTimeout

    /// The paths of the folders that were searched.
    private static let searched = Lock<Set<String>>([])
    private static let queue = DispatchQueue(label: "lupine.parts", qos: .background)

    /// Searches a folder, unless this process has searched it already.
    static func sweep(_ folder: URL) {
        guard searched.withLock({ $0.insert(folder.path).inserted }) else { return }
        queue.async { remove(in: folder, at: Date()) }
    }

    /// Removes the abandoned files in a folder.
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
