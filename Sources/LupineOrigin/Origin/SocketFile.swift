// SPDX-License-Identifier: MIT

internal import Glibc

/// The socket file that a Unix-domain listener leaves in the file system.
enum SocketFile {
    /// Removes the file. Ignores errors, for example that the file does not exist.
    static func remove(_ path: String) { _ = unsafe unlink(path) }
}
