// SPDX-License-Identifier: MIT

/// The files that one command line saves to, each for one URL only: two transfers into one file would mix. Files are identified
/// by device and inode, not by name.
final class SavedFiles: Sendable {
    private let owners = Guarded<[OpenFile.Identity: Int]>([:])

    /// Reserves a file for the URL with that number. Returns false if another URL has it.
    func take(_ file: OpenFile.Identity, for number: Int) -> Bool {
        owners.withLock { owners in
            let owner = owners[file] ?? number
            owners[file] = owner
            return owner == number
        }
    }
}
