// SPDX-License-Identifier: MIT

internal import Glibc

/// The socket file that a Unix-domain listener leaves in the file system.
enum SocketFile {
    /// Removes the file. Errors, such as a file that is already gone, are ignored.
    static func remove(_ path: String) { _ = unsafe unlink(path) }
}
