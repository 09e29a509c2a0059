// SPDX-License-Identifier: MIT

internal import Foundation

/// A file with a random key, which one process creates and all processes of the user share. The methods block, so they are called
/// on `StorageQueue`.
struct SecretKeyFile: Sendable {
    /// The length of a key in bytes.
    static let byteCount = 32

    private let file: AtomicFile

    /// Creates a value for the file at this location, which need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// Returns the key in the file; creates the file if there is none. If the file cannot be written, returns a random key: then
    /// only this process can compare the hashes made with the key.
    func key() -> [UInt8] {
        if let key = readKey() { return key }
        let key = Self.randomKey()
        do {
            try file.create(with: Data(key))
            return key
        } catch {
            // Another process may have created the file first.
            if let key = readKey() { return key }
            // The file contains no key: it has another length, or is not trusted. If it cannot be replaced, this process uses a
            // key of its own.
            try? file.replace(with: Data(key))
            // Another process may have replaced the file at the same time, so this reads the key that both processes will use.
            return readKey() ?? key
        }
    }

    /// Returns a new random key.
    static func randomKey() -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &source) }
    }

    /// Returns the key in the file; nil if the file does not exist, is not trusted, or has another length than a key.
    private func readKey() -> [UInt8]? {
        guard let data = file.read(upTo: Self.byteCount, allowsPipe: true), data.count == Self.byteCount
        else {
            return nil
        }
        return Array(data)
    }
}
