// SPDX-License-Identifier: MIT

package import LupineHTTP

/// What a request sends as its content.
package enum OutgoingContent: Sendable {
    case none
    case bytes([UInt8])
    /// Bytes that somebody else keeps, sent from where they lie.
    case region(any OutgoingRegion)
    /// A piece of a file, sent by the kernel alone where that is possible and pays.
    case file(FileSource)
    /// Whatever a source produces; without a length it goes in chunks.
    case stream(any ContentSource, length: Int64?)

    /// How the codec is to announce it.
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

    /// Makes it ready to be sent from its start again, and says whether that could be done.
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

    /// Nobody will ask for more of it.
    func abandon() {
        if case .stream(let source, _) = self { source.abandon() }
    }
}

/// Bytes in memory whose owner is not the transport, and which do not change.
package protocol OutgoingRegion: Sendable {
    /// How many there are.
    var count: Int { get }
    /// Lends them for the duration of the call.
    func withOctets<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

/// A piece of an open file.
package final class FileSource: Sendable {
    let descriptor: Descriptor
    let offset: Int64
    /// How long the piece is.
    package let count: Int64

    /// Takes over a file that is open for reading; it closes with the last reference.
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

/// Supplies content piece by piece, when it is asked for: the upward half of back-pressure.
package protocol ContentSource: AnyObject, Sendable {
    /// Asks for the next piece. `reply` is to be called once, from any thread, at once or later; the next piece is
    /// asked for only after this one has been sent.
    func next(_ reply: @escaping @Sendable (ContentPiece) -> Void)
    /// Whether the content can be produced from its start again.
    var isReplayable: Bool { get }
    /// Goes back to the start; false when that cannot be done.
    func rewind() -> Bool
    /// The same for a source that has to ask somebody first: `ready` is called once, from any thread. No time-out but
    /// the whole's counts meanwhile.
    func rewind(_ ready: @escaping @Sendable (Bool) -> Void)
    /// Nothing more will be asked for.
    func abandon()
}

extension ContentSource {
    package func rewind(_ ready: @escaping @Sendable (Bool) -> Void) { ready(rewind()) }
}

/// What a content source supplies.
package enum ContentPiece: Sendable {
    /// Some bytes, at least one.
    case bytes([UInt8])
    /// All has been supplied. Trailers are sent with content of unknown length only.
    case end(trailers: Fields)
    /// The source is broken; the text says why.
    case failed(String)
}
