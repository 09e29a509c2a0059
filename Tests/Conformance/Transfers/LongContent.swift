// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin
import LupineTLS
import LupineTestKit

/// Content too large for memory: pseudorandom octets, repeated with a period that no buffer size divides. It is written, served
/// and hashed piece by piece.
final class LongContent: Sendable {
    let count: Int
    /// Its entity tag.
    let tag: String
    private let period: [UInt8]

    /// Makes content; the same seed gives the same octets.
    init(_ count: Int, seed: UInt64) {
        self.count = count
        tag = "\"\(seed)-\(count)\""
        var random = SeededRandom(seed: seed)
        // Each number gives one octet.
        period = (0..<1_000_003).map { _ in UInt8(truncatingIfNeeded: random.next() >> 32) }
    }

    private init(_ count: Int, tag: String, period: [UInt8]) {
        self.count = count
        self.tag = tag
        self.period = period
    }

    /// Returns the first `count` octets of the content.
    func first(_ count: Int) -> LongContent { LongContent(count, tag: "\"first-\(count)\"", period: period) }

    private func pieces(_ body: (ArraySlice<UInt8>) throws -> Void) rethrows {
        var position = 0
        while position < count {
            let size = min(period.count, count - position)
            try body(period[..<size])
            position += size
        }
    }

    /// The SHA-256 of the whole content.
    var digest: [UInt8]? {
        guard let digest = RunningDigest(.sha256) else { return nil }
        pieces { digest.update($0.count == period.count ? period : Array($0)) }
        return digest.finish()
    }

    /// Writes the content to a new file, which replaces the existing one.
    func write(to file: URL) throws {
        let new = file.appendingPathExtension("new")
        try Data().write(to: new)
        let handle = try FileHandle(forWritingTo: new)
        let whole = Data(period)
        try pieces { try handle.write(contentsOf: $0.count == period.count ? whole : Data($0)) }
        try handle.close()
        try? FileManager.default.removeItem(at: file)
        try FileManager.default.moveItem(at: new, to: file)
    }

    /// Serves the content to GET: all of it, or the range that the client lacks of this version.
    func serve(_ path: String, on origin: LupineOrigin.Origin, acceptsRanges: Bool = true) {
        origin.route("GET", path) { [self] request throws(Refusal) in
            let start = acceptsRanges ? start(of: request) : 0
            var response = OriginResponse(start == 0 ? 200 : 206, body: .none)
            guard start < count else {
                response.status = Status(416)
                try response.add(.contentRange, "bytes */\(count)")
                return response
            }
            if start > 0 { try response.add(.contentRange, "bytes \(start)-\(count - 1)/\(count)") }
            if acceptsRanges { try response.add(.acceptRanges, "bytes") }
            try response.add(.eTag, tag)
            var position = start
            response.body = .stream(length: Int64(count - start)) { [self] piece, room in
                let offset = position % period.count
                let size = min(room, period.count - offset, count - position)
                piece += period[offset..<offset + size]
                position += size
                return position == count ? .end(trailers: Fields()) : .more
            }
            return response
        }
    }

    private func start(of request: OriginRequest) -> Int {
        guard let range = request.field("Range"), range.hasPrefix("bytes="), range.hasSuffix("-"),
            request.field("If-Range") ?? tag == tag
        else { return 0 }
        return Int(range.dropFirst(6).dropLast()) ?? 0
    }
}

/// Returns the SHA-256 of a file, which is read piece by piece.
func digest(ofFile file: URL) throws -> [UInt8]? {
    guard let digest = RunningDigest(.sha256) else { return nil }
    let handle = try FileHandle(forReadingFrom: file)
    defer { try? handle.close() }
    while let piece = try handle.read(upToCount: 4 << 20), !piece.isEmpty { digest.update(Array(piece)) }
    return digest.finish()
}
