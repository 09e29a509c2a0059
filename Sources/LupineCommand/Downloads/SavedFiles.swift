// SPDX-License-Identifier: MIT

/// The files that one command line saves to, each for one address alone: two that were written at once would be one mixture. Known
/// by what the kernel calls them, whatever names they go by.
final class SavedFiles: Sendable {
    private let owners = Guarded<[OpenFile.Identity: Int]>([:])

    /// Takes a file for the address of that number. False when it is another's.
    func take(_ file: OpenFile.Identity, for number: Int) -> Bool {
        owners.withLock { owners in
            let owner = owners[file] ?? number
            owners[file] = owner
            return owner == number
        }
    }
}
