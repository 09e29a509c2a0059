// SPDX-License-Identifier: MIT

internal import Glibc

/// Reads the files and folders that certificates and keys are loaded from. Blocks: never call it on an event loop's thread.
enum CertificateFile {
    /// Returns the content of a file. Throws if it has more than `limit` bytes.
    static func read(_ path: String, limit: Int) throws(CertificateError) -> [UInt8] {
        try refuseNUL(in: path)
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw .unreadable(path: path, errorNumber: errno) }
        defer { close(file) }
        return try contents(of: file, path, limit: limit)
    }

    /// Identifies a file, whatever names it has.
    struct Identity: Hashable {
        let device: UInt
        let inode: UInt

        fileprivate init(_ status: stat) {
            device = UInt(status.st_dev)
            inode = UInt(status.st_ino)
        }
    }

    /// Returns the content of a regular file, and adds the file to `seenFiles`. Returns nil for a file that is in `seenFiles`
    /// already, and for anything that is not a regular file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - limit: The most bytes that the file may have; a larger file is an error.
    ///   - seenFiles: The files to skip.
    static func readRegular(
        _ path: String, limit: Int, skipping seenFiles: inout Set<Identity>
    ) throws(CertificateError) -> [UInt8]? {
        try refuseNUL(in: path)
        var status = stat()
        guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            seenFiles.insert(Identity(status)).inserted
        else { return nil }
        // Another program may have replaced the file since `stat`, so it is checked again below. Without O_NONBLOCK, opening a
        // FIFO would block.
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .unreadable(path: path, errorNumber: errno) }
        defer { close(file) }
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let size = Int(status.st_size)
        guard size <= limit else {
            throw .at(number: 1, path: path, .tooLarge(.pem, count: size, limit: limit))
        }
        return try contents(of: file, path, limit: limit)
    }

    /// Reads a file descriptor to its end. Throws if there are more than `limit` bytes. Errors contain the path.
    private static func contents(
        of file: Int32, _ path: String, limit: Int
    ) throws(CertificateError) -> [UInt8] {
        var contents: [UInt8] = []
        while contents.count <= limit {
            var errorNumber: Int32 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
                let result = unsafe Glibc.read(file, buffer.baseAddress, buffer.count)
                errorNumber = result < 0 ? errno : 0
                count = max(0, result)
            }
            if errorNumber == EINTR { continue }
            guard errorNumber == 0 else { throw .unreadable(path: path, errorNumber: errorNumber) }
            if bytes.isEmpty { return contents }
            contents += bytes
        }
        throw .at(number: 1, path: path, .tooLarge(.pem, count: contents.count, limit: limit))
    }

    /// Returns the names in a folder, sorted, without `.` and `..`.
    ///
    /// - Throws: `unreadable`, or `tooLarge` when the names together have more octets than `limit`.
    static func names(in path: String, limit: Int = .max) throws(CertificateError) -> [String] {
        try refuseNUL(in: path)
        guard let folder = unsafe opendir(path) else { throw .unreadable(path: path, errorNumber: errno) }
        defer { unsafe _ = closedir(folder) }
        var names: [String] = []
        var size = 0
        // `readdir` returns nil at the end and for an error; only an error sets `errno`.
        errno = 0
        while let entry = unsafe readdir(folder) {
            // `d_name` is a C array of 256 characters, which Swift imports as a tuple.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." {
                names.append(name)
                size += name.utf8.count
            }
            guard size <= limit else { throw .tooLarge(.folder, count: size, limit: limit) }
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

    /// Throws if the path contains NUL: as a C string, the path would end there and lead to another file.
    private static func refuseNUL(in path: String) throws(CertificateError) {
        guard !path.utf8.contains(0) else { throw .unreadable(path: path, errorNumber: EINVAL) }
    }
}
