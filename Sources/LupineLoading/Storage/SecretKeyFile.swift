// SPDX-License-Identifier: MIT

internal import Foundation

/// A file with a random key, which is created once and then shared by all processes of the user. Blocks; call it on the storage
/// queue.
struct SecretKeyFile: Sendable {
    /// The length of a key in bytes.
    static let byteCount = 32

    private let file: AtomicFile

    /// The file at this location, which need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// Returns the key in the file, which is created if there is none. If it cannot be stored, returns a random key: hashes made
    /// with it are then recognized by this process only.
    func key() -> [UInt8] {
        if let key = stored() { return key }
        let key = Self.random()
        do {
            try file.create(with: Data(key))
            return key
        } catch {
            // Another process may have created the file first; a file of another length is not a key.
            if let key = stored() { return key }
            try? file.replace(with: Data(key))
            return stored() ?? key
        }
    }

    /// Returns a new random key.
    static func random() -> [UInt8] {
        var source = SystemRandomNumberGenerator()
        return (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &source) }
    }

    private func stored() -> [UInt8]? {
        file.read(upTo: Self.byteCount, mayBePipe: true).flatMap {
            $0.count == Self.byteCount ? Array($0) : nil
        }
    }
}
