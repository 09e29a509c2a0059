// SPDX-License-Identifier: MIT

internal import Glibc

/// The file that a Unix-domain listener leaves in the file system.
enum SocketFile {
    /// Removes the file; a missing file is not an error.
    static func remove(_ path: String) { _ = unsafe unlink(path) }
}
