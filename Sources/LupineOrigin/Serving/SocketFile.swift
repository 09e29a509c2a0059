// SPDX-License-Identifier: MIT

internal import Glibc

/// The name that a Unix-domain listener leaves in the file system.
enum SocketFile {
    /// Takes the name away; a name that is gone is no error.
    static func remove(_ path: String) { _ = unsafe unlink(path) }
}
