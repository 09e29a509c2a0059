// SPDX-License-Identifier: MIT

internal import Foundation

/// A file with a random key that is made once and then is the same for every process of the user that asks. Blocks; call
/// it on the storage queue.
struct SecretKeyFile: Sendable {
    /// How many bytes a key has.
    static let byteCount = 32

    private let file: AtomicFile

    /// The file at that place, which need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// The key in the file, which is made if there is none. Where none can be kept, a key that nobody else will have: what
    /// is hashed with it is then recognised by this process only.
    func key() -> [UInt8] {
        if let key = stored() { return key }
        let key = Self.random()
        do {
            try file.create(with: Data(key))
            return key
        } catch {
            // Another process may have been faster; a file of another length is nobody's key.
            if let key = stored() { return key }
            try? file.replace(with: Data(key))
            return stored() ?? key
        }
    }

    /// A key that was never used before.
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
