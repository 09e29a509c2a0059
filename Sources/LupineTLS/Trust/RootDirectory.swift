// SPDX-License-Identifier: MIT

internal import Glibc

extension RootFile {
    /// The certificates of every PEM file in a directory, those that are called by OpenSSL's hashes among them. Files
    /// without a certificate are passed over; throws for a directory without any and for a broken certificate.
    static func readDirectory(_ path: String) throws(TrustRootsError) -> [Certificate] {
        guard let directory = unsafe opendir(path) else {
            throw .unreadable(path: path, reason: unsafe String(cString: strerror(errno)))
        }
        defer { unsafe _ = closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            let kind = unsafe entry.pointee.d_type
            guard !name.hasPrefix("."), kind != UInt8(DT_DIR) else { continue }
            names.append(name)
        }
        var certificates: [Certificate] = []
        for name in names.sorted() {
            do throws(TrustRootsError) {
                certificates += try RootFile(path: "\(path)/\(name)").read()
            } catch .empty {
                continue
            }
        }
        guard !certificates.isEmpty else { throw .empty(path: path) }
        return certificates
    }
}
