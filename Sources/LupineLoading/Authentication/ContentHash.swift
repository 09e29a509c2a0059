// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Hashes a request's content for `auth-int` (RFC 7616 §3.4.3), before the content is sent.
///
/// Short content is hashed synchronously, a file on a storage queue, piece by piece.
struct ContentHash: Sendable {
    /// Digests by function; a function that is not available is missing.
    typealias Result = [MessageDigest: [UInt8]]

    /// The functions to use: those of server and proxy may differ.
    let functions: [MessageDigest]
    let content: AuthenticationMessage.Content

    /// Content longer than this is not hashed on an event loop.
    private static let mostAtOnce = 64 << 10

    /// Computes the hashes. `reply` is called once, before this returns or on a storage queue.
    func make(_ reply: @escaping @Sendable (Result) -> Void) {
        switch content {
        case .none: reply(hashes(of: []))
        case .data(let data) where data.count <= Self.mostAtOnce: reply(hashes(of: Array(data)))
        case .data(let data): StorageQueue.files.async { reply(hashes(of: Array(data))) }
        case .file(let file): StorageQueue.files.async { reply(hashes(ofFile: file)) }
        case .stream: reply([:])
        }
    }

    private func hashes(of octets: [UInt8]) -> Result {
        var hashes: Result = [:]
        for function in functions { hashes[function] = function.digest(of: octets) }
        return hashes
    }

    private func hashes(ofFile file: URL) -> Result {
        let running = functions.map { (function: $0, digest: RunningDigest($0)) }
        do {
            let handle = try FileHandle.reading(file)
            defer { try? handle.close() }
            while let piece = try handle.read(upToCount: 1 << 18), !piece.isEmpty {
                let octets = Array(piece)
                for (_, digest) in running { digest?.update(octets) }
            }
        } catch {
            // The request reads the same file and reports the error.
            return [:]
        }
        var hashes: Result = [:]
        for (function, digest) in running { hashes[function] = digest?.finish() }
        return hashes
    }
}
