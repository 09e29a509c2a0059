// SPDX-License-Identifier: MIT

internal import Glibc

/// Reads the files and folders that certificates and keys are loaded from. It blocks: never on a loop's thread.
enum CertificateFile {
    /// What a file holds.
    static func read(_ path: String, limit: Int) throws(CertificateError) -> [UInt8] {
        try check(path)
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .unreadable(path: path, errorNumber: errno) }
        defer { close(file) }
        var contents: [UInt8] = []
        while contents.count <= limit {
            var failure: Int32 = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                let result = unsafe Glibc.read(file, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            guard failure == 0 else { throw .unreadable(path: path, errorNumber: failure) }
            if piece.isEmpty { return contents }
            contents += piece
        }
        throw .at(number: 1, path: path, .tooLarge(.pem, count: contents.count, limit: limit))
    }

    /// The names in a folder, in order, without the folder itself and the one above.
    static func names(in path: String) throws(CertificateError) -> [String] {
        try check(path)
        guard let folder = unsafe opendir(path) else { throw .unreadable(path: path, errorNumber: errno) }
        defer { unsafe _ = closedir(folder) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw .unreadable(path: path, errorNumber: errno) }
        return names.sorted()
    }

    /// Whether a path leads to a regular file.
    static func isRegular(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// A C string would end at a NUL and name another file.
    private static func check(_ path: String) throws(CertificateError) {
        guard !path.utf8.contains(0) else { throw .unreadable(path: path, errorNumber: EINVAL) }
    }
}
