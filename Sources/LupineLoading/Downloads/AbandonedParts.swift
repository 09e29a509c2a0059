// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Glibc
internal import LupineTransport

/// Removes abandoned temporary files of downloads: those of killed programs, and parts (incomplete files) whose resume data was
/// neither used nor discarded.
///
/// Each folder is searched once in a process, on a background queue, when the first download into it begins. A file is removed if
/// it is a regular file of the user, has the name of a download's file, and was not written to for `retentionTime`.
enum AbandonedParts {
    /// How long after its last write a file is kept, in seconds: a week, the default time limit of a load.
    static let retentionTime: TimeInterval = ConfigurationValues.defaultResourceTimeout

    /// The paths of the folders that this process has searched.
    private static let searchedFolders = Lock<Set<String>>([])
    private static let queue = DispatchQueue(label: "lupine.parts", qos: .background)

    /// Removes the abandoned files in a folder, on a background queue. Does nothing if this process has searched the folder
    /// already.
    static func removeOnce(in folder: URL) {
        guard searchedFolders.withLock({ $0.insert(folder.path).inserted }) else { return }
        queue.async { remove(in: folder, at: Date()) }
    }

    /// Removes the files in a folder that are abandoned at this time. Blocks.
    static func remove(in folder: URL, at now: Date) {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
        where DownloadFile.isDownloadFileName(name) {
            let path = folder.appendingPathComponent(name).path
            guard let attributes = try? files.attributesOfItem(atPath: path),
                attributes[.type] as? FileAttributeType == .typeRegular,
                (attributes[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid(),
                let lastWrite = attributes[.modificationDate] as? Date,
                now.timeIntervalSince(lastWrite) > retentionTime
            else { continue }
            try? files.removeItem(atPath: path)
        }
    }
}
