// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The content of a request.
package enum OutgoingContent: Sendable {
    case none
    case bytes([UInt8])
    /// Bytes owned by another object, sent without a copy.
    case region(any OutgoingRegion)
    /// A piece of a file; the kernel sends it from the page cache where that is possible and faster.
    case file(FileSource)
    /// Content produced by a source; without a length it is sent in chunks.
    case stream(any ContentSource, length: Int64?)

    /// The length of the content, for the codec.
    var announcement: OutgoingBody {
        switch self {
        case .none: .none
        case .bytes(let bytes): .known(Int64(bytes.count))
        case .region(let region): .known(Int64(region.count))
        case .file(let file): .known(file.count)
        case .stream(_, let length?): .known(length)
        case .stream(_, nil): .unknown
        }
    }

    /// Whether all of the content is in memory and can usually be written with the head in one call.
    var isSmall: Bool {
        switch self {
        case .none: true
        case .bytes(let bytes): bytes.count <= Self.smallSize
        case .region(let region): region.count <= Self.smallSize
        case .file, .stream: false
        }
    }

    private static let smallSize = 16 * 1024

    /// Rewinds the content to its start, and calls `ready` with true if that succeeded.
    func rewind(_ ready: @escaping @Sendable (Bool) -> Void) {
        switch self {
        case .none, .bytes, .region, .file: ready(true)
        case .stream(let source, _): source.rewind(ready)
        }
    }

    /// Whether `rewind` would succeed.
    var isReplayable: Bool {
        switch self {
        case .none, .bytes, .region, .file: true
        case .stream(let source, _): source.isReplayable
        }
    }

    /// Called when the exchange needs no more of the content.
    func abandon() {
        if case .stream(let source, _) = self { source.abandon() }
    }
}

/// Immutable bytes in memory that the transport does not own.
package protocol OutgoingRegion: Sendable {
    /// The number of bytes.
    var count: Int { get }
    /// Lends the bytes for the duration of the call.
    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// A piece of an open file.
package final class FileSource: Sendable {
    let descriptor: Descriptor
    let offset: Int64
    /// The length of the piece.
    package let count: Int64

    /// Takes ownership of a file that is open for reading; it is closed when the last reference is released.
    package init(_ descriptor: consuming Descriptor, offset: Int64, count: Int64) {
        precondition(offset >= 0 && count >= 0, "a piece of a file lies inside it")
        self.descriptor = descriptor
        self.offset = offset
        self.count = count
    }

    /// The error for a file that ends before its piece does.
    var tooShort: TransportError {
        .content("the file is shorter than the \(count) bytes that were announced")
    }
}

/// Supplies content piece by piece on request, which applies back-pressure to the source.
package protocol ContentSource: AnyObject, Sendable {
    /// Called when the connection needs the next piece. `reply` must be called once, from any thread, synchronously or later. The
    /// connection calls this again only after it has sent the piece.
    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void)
    /// Whether the content can be produced again from its start.
    var isReplayable: Bool { get }
    /// Goes back to the start; returns false when that is impossible.
    func rewind() -> Bool
    /// Goes back to the start, and calls `ready` once, from any thread, with true if that succeeded. Meanwhile only the `whole`
    /// time-out of the exchange runs.
    func rewind(_ ready: @escaping @Sendable (Bool) -> Void)
    /// Called when the exchange needs no more content, perhaps while a reply is outstanding, which is then ignored.
    func abandon()
}

extension ContentSource {
    package func rewind(_ ready: @escaping @Sendable (Bool) -> Void) { ready(rewind()) }
}

/// A reply of a content source.
package enum ContentPiece: Sendable {
    /// At least one byte.
    case bytes([UInt8])
    /// All content has been supplied. Trailers are only sent with content of unknown length.
    case end(trailers: Fields)
    /// The source failed; the text says why.
    case failed(String)
}
