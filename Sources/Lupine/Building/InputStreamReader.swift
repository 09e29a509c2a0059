// SPDX-License-Identifier: MIT

import Foundation

/// Reads an `InputStream` piece by piece: the one place of the module that does. Blocks for as long as the stream does, on
/// the thread of the caller.
final class InputStreamReader {
    /// The stream failed and does not say why.
    struct Unreadable: Error {}

    /// The most that one piece holds.
    static let pieceLimit = 256 << 10

    private let stream: InputStream

    /// Opens the stream, unless it is open.
    init(_ stream: InputStream) {
        self.stream = stream
        if stream.streamStatus == .notOpen { stream.open() }
    }

    /// The next piece; empty at the end, and of a stream that was closed. Foundation's streams on Linux trap when they are
    /// asked for an error that they do not have, so they are asked only once one is known.
    func next(atMost limit: Int) throws -> Data {
        switch stream.streamStatus {
        case .closed: return Data()
        case .error: throw stream.streamError ?? Unreadable()
        case _: break
        }
        var piece = Data(count: min(limit, Self.pieceLimit))
        let count = unsafe piece.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.bindMemory(to: UInt8.self).baseAddress else { return 0 }
            return unsafe stream.read(start, maxLength: bytes.count)
        }
        guard count >= 0 else { throw stream.streamError ?? Unreadable() }
        return piece.prefix(count)
    }

    func close() { stream.close() }
}
