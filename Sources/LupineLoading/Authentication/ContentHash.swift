// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import LupineTLS
internal import LupineTransport

/// Hashes a request's content for Digest authentication with `auth-int` (RFC 7616 §3.4.3), before the content is sent.
///
/// Short content is hashed on the calling thread; longer content and files are hashed on `StorageQueue.files`.
struct ContentHash: Sendable {
    /// The hashes by function. A function that OpenSSL does not offer has no hash. Empty when the content is a stream or cannot
    /// be read.
    typealias Result = [MessageDigest: [UInt8]]

    /// The hash functions to compute: the challenges of the server and of the proxy may name different functions.
    let functions: [MessageDigest]
    let content: AuthenticationMessage.Content

    /// The most octets that are hashed on the calling thread, which may be an event loop's.
    private static let maxSynchronousLength = 64 << 10

    /// Computes the hashes, and calls `reply` with them once: before this returns, or on `StorageQueue.files`.
    func compute(_ reply: @escaping @Sendable (Result) -> Void) {
        switch content {
        case .none: reply(hashes(of: []))
        case .data(let data) where data.count <= Self.maxSynchronousLength: reply(hashes(of: Array(data)))
        case .data(let data): StorageQueue.files.async { reply(hashes(of: Array(data))) }
        case .file(let file): StorageQueue.files.async { reply(hashes(ofFile: file)) }
        case .stream: reply([:])
        }
    }

    /// Hashes content in memory.
    private func hashes(of octets: [UInt8]) -> Result {
        var hashes: Result = [:]
        for function in functions { hashes[function] = function.digest(of: octets) }
        return hashes
    }

    /// Hashes a file, of which only one chunk at a time is in memory.
    private func hashes(ofFile file: URL) -> Result {
        let chunkLength = 256 << 10
        // `RunningDigest($0)` is nil for a function that OpenSSL does not offer.
        let digests = functions.map { (function: $0, digest: RunningDigest($0)) }
        do {
            let handle = try FileHandle.reading(file)
            defer { try? handle.close() }
            while let chunk = try handle.read(upToCount: chunkLength), !chunk.isEmpty {
                let octets = Array(chunk)
                for (_, digest) in digests { digest?.update(octets) }
            }
        } catch {
            // The request reads the same file and reports the error.
            return [:]
        }
        var hashes: Result = [:]
        for (function, digest) in digests { hashes[function] = digest?.finish() }
        return hashes
    }
}
