// SPDX-License-Identifier: MIT

import Glibc
import LupineTestKit
import Testing

@testable import LupineTLS

/// A temporary folder for the roots of a test. Its deinitializer removes it.
final class RootFolder {
    /// Thrown when a system call fails.
    struct Failure: Error {
        let call: String
        let code: Int32
    }

    let path: String
    private var names: [String] = []

    init() throws {
        let temporary = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        path = "\(temporary)/lupine-roots-\(UInt64.random(in: 0 ... .max))"
        guard unsafe mkdir(path, 0o700) == 0 else { throw Failure(call: "mkdir", code: errno) }
    }

    deinit {
        for name in names {
            if unsafe unlink("\(path)/\(name)") != 0 { unsafe rmdir("\(path)/\(name)") }
        }
        unsafe rmdir(path)
    }

    /// Returns the path of a name in the folder.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, replacing an existing one, and returns its path.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        let file = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(call: "open", code: errno) }
        defer { close(file) }
        names.append(name)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes[start...].withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw Failure(call: "write", code: errno) }
            start += count
        }
        return self.file(name)
    }

    /// Makes a sparse file of `size` octets.
    func makeSparseFile(_ size: Int, at name: String) throws {
        try write([], to: name)
        guard unsafe truncate(file(name), off_t(size)) == 0 else {
            throw Failure(call: "truncate", code: errno)
        }
    }

    func link(_ name: String, to target: String) throws {
        guard unsafe symlink(target, file(name)) == 0 else { throw Failure(call: "symlink", code: errno) }
        names.append(name)
    }

    func makePipe(_ name: String) throws {
        guard unsafe mkfifo(file(name), 0o600) == 0 else { throw Failure(call: "mkfifo", code: errno) }
        names.append(name)
    }

    func makeFolder(_ name: String) throws {
        guard unsafe mkdir(file(name), 0o700) == 0 else { throw Failure(call: "mkdir", code: errno) }
        names.append(name)
    }

    func remove(_ name: String) { unsafe unlink(file(name)) }

    /// Adds certificates as c_rehash does: each in its own file, with a link named by the hash of its subject.
    func fill(hashed certificates: [Certificate]) throws {
        var numbers: [String: Int] = [:]
        for (index, certificate) in certificates.enumerated() {
            let name = "\(index).pem"
            try write(Array(certificate.pemText.utf8), to: name)
            let hash = try #require(OpenSSLName(subjectOf: certificate)).hash
            let digits = Hexadecimal.lowercase(
                (0..<4).map { UInt8(truncatingIfNeeded: hash >> (24 - 8 * $0)) })
            try link("\(digits).\(numbers[digits, default: 0])", to: name)
            numbers[digits, default: 0] += 1
        }
    }
}

extension Certificate {
    /// The certificate in PEM, in lines of 64 characters.
    var pemText: String { Certificate.pemText(of: der) }

    /// Returns bytes in the PEM form of a certificate.
    static func pemText(of der: [UInt8], label: String = "CERTIFICATE") -> String {
        let digits = Array(Base64.encode(der))
        let lines = stride(from: 0, to: digits.count, by: 64).map {
            String(digits[$0..<min($0 + 64, digits.count)])
        }
        return "-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n"
    }
}
