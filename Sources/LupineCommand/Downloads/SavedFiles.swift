// SPDX-License-Identifier: MIT

/// The files that the URLs of one command line are saved to. Each file is reserved for one URL, since two transfers into one file
/// would mix. Files are identified by device and inode, not by name.
final class SavedFiles: Sendable {
    /// The index of the URL for which each file is reserved.
    private let owners = Guarded<[OpenFile.Identity: Int]>([:])

    /// Reserves a file for the URL with this index. Returns false if it is reserved for another URL.
    func reserve(_ file: OpenFile.Identity, for urlIndex: Int) -> Bool {
        owners.withLock { owners in
            // A file that is not reserved yet becomes that of this URL.
            let owner = owners[file] ?? urlIndex
            owners[file] = owner
            return owner == urlIndex
        }
    }
}
