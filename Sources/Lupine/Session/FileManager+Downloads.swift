// SPDX-License-Identifier: MIT

internal import Foundation

// Moves downloaded files to the destinations that requests name.

extension FileManager {
    /// Moves a downloaded file to its destination. `options` determine whether a file there is replaced, and whether missing
    /// folders are created.
    func moveDownload(_ file: URL, to destination: URL, options: DownloadRequest.Options) throws {
        if options.contains(.removePreviousFile), fileExists(atPath: destination.path) {
            try removeItem(at: destination)
        }
        if options.contains(.createIntermediateDirectories) {
            try createDirectory(
                at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        try moveOrRemovePartialCopy(file, to: destination)
    }

    /// Moves a file. Between two file systems, moving means copying: if that fails, removes the partial copy.
    private func moveOrRemovePartialCopy(_ file: URL, to destination: URL) throws {
        let existedBefore = fileExists(atPath: destination.path)
        do {
            try moveItem(at: file, to: destination)
        } catch {
            // A file that existed before the move is not a partial copy.
            let partialCopy = existedBefore ? nil : try? attributesOfItem(atPath: destination.path)
            if partialCopy?[.type] as? FileAttributeType == .typeRegular {
                try? removeItem(at: destination)
            }
            throw error
        }
    }
}
