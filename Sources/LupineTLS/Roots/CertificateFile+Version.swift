// SPDX-License-Identifier: MIT

internal import Glibc

/// Describes the state of files and folders, so that a change of the roots in them can be detected.
extension CertificateFile {
    /// Returns a description of a file's state, which changes when the file is written to or replaced. The description of a pipe
    /// or another special file changes only when it is replaced. Does not read the file.
    static func version(_ path: String) -> String {
        var status = stat()
        guard !path.utf8.contains(0), unsafe stat(path, &status) == 0 else { return "\(path) is not there" }
        guard status.st_mode & S_IFMT == S_IFREG || status.st_mode & S_IFMT == S_IFDIR else {
            return "\(path) \(status.st_dev):\(status.st_ino)"
        }
        return "\(path) \(status.st_dev):\(status.st_ino) \(status.st_size) "
            + "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
    }

    /// Returns the descriptions of a folder's state and of the state of everything in the folder.
    static func version(folder path: String) -> [String] {
        let names = (try? names(in: path, limit: RootReader.defaultNamesLimit)) ?? []
        return [version(path)] + names.map { version("\(path)/\($0)") }
    }
}
