// SPDX-License-Identifier: MIT

internal import Foundation

/// A file with a random key, which one process creates and all processes of the user share. Its calls block, so they are made on
/// `StorageQueue`.
struct SecretKeyFile: Sendable {
    /// The length of a key in bytes.
    static let byteCount = 32

    private let file: AtomicFile

    /// Creates a value for the file at this location, which need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// Returns the key in the file; creates the file if there is none. Returns a random key if it cannot be stored: only this
    /// process then recognizes the hashes made with it.
    func key() -> [UInt8] {
        if let key = stored() { return key }
        let key = Self.random()
        do {
            try file.create(with: Data(key))
            return key
        } catch {
            // Another process may have created the file first. A file of another length is no key, and is replaced.
            if let key = stored() { return key }
            try? file.replace(with: Data(key))
            // Another process may have replaced the file at the same time; what is stored now is the key of both.
            return stored() ?? key
        }
    }

    /// Returns a new random key.
    static func random() -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &source) }
    }

    /// Returns the key in the file; nil if there is none.
    private func stored() -> [UInt8]? {
        file.read(upTo: Self.byteCount, mayBePipe: true).flatMap {
            $0.count == Self.byteCount ? Array($0) : nil
        }
    }
}
