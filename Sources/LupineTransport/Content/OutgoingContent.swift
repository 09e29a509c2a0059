// SPDX-License-Identifier: MIT

package import LupineHTTP

/// The content of a request.
package enum OutgoingContent: Sendable {
    case none
    case bytes([UInt8])
    /// Bytes owned by another object, sent without a copy.
    case region(any OutgoingRegion)
    /// A slice of a file. The kernel sends it directly from the page cache where that is possible and faster.
    case file(FileSource)
    /// Content that a source supplies. If `length` is nil, it is sent with the chunked transfer coding.
    case stream(any ContentSource, length: Int64?)

    /// The length of the content, in the form in which the codec announces it.
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

    /// The number of bytes up to which content is small.
    private static let smallSize = 16 * 1024

    /// Rewinds the content to its start. Calls `ready` with whether that succeeded, synchronously or later, on any thread.
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

    /// Tells the source that the exchange needs no more of the content.
    func abandon() {
        if case .stream(let source, _) = self { source.abandon() }
    }
}

/// Immutable bytes in memory that the transport does not own.
package protocol OutgoingRegion: Sendable {
    /// The number of bytes.
    var count: Int { get }
    /// Calls `body` with the bytes, which are valid only during the call.
    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// A slice of an open file, to be sent as content.
package final class FileSource: Sendable {
    let descriptor: Descriptor
    /// Where the slice starts in the file.
    let offset: Int64
    /// The length of the slice.
    package let count: Int64

    /// Takes ownership of a file that is open for reading. The file is closed when the last reference to this object is released.
    package init(_ descriptor: consuming Descriptor, offset: Int64, count: Int64) {
        precondition(offset >= 0 && count >= 0, "a piece of a file lies inside it")
        self.descriptor = descriptor
        self.offset = offset
        self.count = count
    }

    /// The error for a file that ends before the end of the slice.
    var tooShort: TransportError {
        .content("the file is shorter than the \(count) bytes that were announced")
    }
}

/// Supplies the content of a request piece by piece, no faster than the connection asks for it.
package protocol ContentSource: AnyObject, Sendable {
    /// Called when the connection needs the next piece. The source must call `reply` once, on any thread, synchronously or later.
    /// The connection asks for another piece only after it has sent this one.
    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void)
    /// Whether the content can be produced again from its start.
    var isReplayable: Bool { get }
    /// Goes back to the start; returns false when that is impossible.
    func rewind() -> Bool
    /// Goes back to the start. Calls `ready` once, on any thread, with whether that succeeded. Meanwhile only the `whole`
    /// time-out of the exchange runs.
    func rewind(_ ready: @escaping @Sendable (Bool) -> Void)
    /// Called when the exchange needs no more content. The connection ignores a reply that is still outstanding.
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
