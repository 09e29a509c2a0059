// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// The state of the response of one hop: its content is received from the connection, decoded, joined to pieces, and delivered to
/// the client.
///
/// `NetworkLoad` updates the state under a lock on the connection's loop, and calls the client outside of the lock.
struct ResponseState {
    /// The loop of the exchange.
    var loop: EventLoop?
    /// The results of the connection's TLS handshake; nil without TLS.
    var evidence: PeerEvidence?
    var response: URLResponse?
    var collector = ContentCollector()
    /// Whether the chunks of the body are delivered separately.
    var chunkDelivery = ChunkDelivery.joined
    /// Decodes the content; nil if the content has no codings or is not decoded.
    var decoder: ContentDecoder?
    /// The file to which decoded content is written; nil if the content goes to the client or is spliced, which means that the
    /// kernel moves it into the file.
    var decodedContentFile: FileTarget?
    /// Whether the content goes into a file, either moved by the kernel or written after decoding.
    var goesToFile = false
    /// The error of decoding the content or writing it to the file.
    var failure: URLError?
    /// Whether the client wants no more of the content.
    var discardsContent = false
    /// The number of bytes that were delivered to the client or the file.
    var deliveredBytes: Int64 = 0
    /// The progress of sending the request's body. `NetworkLoad` sets the length of the body before it sends the request.
    var sendProgress = SendProgress(expectedBytes: 0)
    /// The metrics of the failed attempts after which the request was sent again.
    var earlierAttempts: [ExchangeMetrics] = []

    /// Whether the chunks of a body (RFC 9112 §7.1) are delivered separately.
    enum ChunkDelivery {
        /// Content is joined regardless of chunks: the body has none, it is decoded, or the client does not want them separately.
        case joined
        /// No chunk has arrived, and the client has not been asked.
        case undecided
        /// Each chunk becomes a separate piece, up to a limit for each turn of the loop.
        case separate
    }

    /// How the reception ends if the exchange ends now.
    var end: ReceptionEnd {
        ReceptionEnd(failure: failure, discardsContent: discardsContent, goesToFile: goesToFile)
    }

    /// Whether content is decoded.
    var isDecoding: Bool { decoder != nil }

    /// The result of adding content.
    enum AddResult: Sendable {
        /// The content was buffered.
        case buffered
        /// This piece has to be delivered. The added content is the piece itself, or was buffered behind it.
        case piece(Data)
        /// The content was not added, because it has to be decoded.
        case needsDecoding
        /// The content was not added, because the client has to decide first whether it wants separate chunks.
        case undecided
    }

    /// Adds received content to the buffered piece, unless it has to be decoded or the client has to be asked first.
    mutating func add(_ bytes: Span<UInt8>) -> AddResult {
        if isDecoding { return .needsDecoding }
        let piece: Data?
        switch chunkDelivery {
        case .undecided: return .undecided
        case .separate: piece = collector.add(chunk: bytes)
        case .joined:
            piece = collector.hasRoom(for: bytes.count) ? nil : collector.takePiece()
            collector.add(bytes)
        }
        return piece.map(AddResult.piece) ?? .buffered
    }

    /// Decodes from the front of `bytes` until they are consumed, the buffered piece is full or the decoder reaches its limit
    /// for one call. Also returns whether decoding has to continue in a later turn of the loop.
    mutating func decode(_ bytes: Span<UInt8>) -> (
        result: ContentDecoder.DecodeResult, isAllowanceSpent: Bool
    ) {
        // Moved out of `self` and back, because the closure changes another property of `self`.
        guard var decoder = decoder.take() else { return (.inputConsumed, false) }
        defer { self.decoder = decoder }
        let result = decoder.decode(bytes, room: collector.room) { output in collector.add(output) }
        return (result, loop.map { decoder.isAllowanceSpent(after: result, on: $0) } ?? false)
    }
}

/// How the reception of a response has ended. Decides which error the hop ends with.
struct ReceptionEnd: Sendable {
    /// The error of decoding the content or writing it to the file.
    let failure: URLError?
    /// Whether the client wants no more of the content.
    let discardsContent: Bool
    /// Whether the content goes into a file.
    let goesToFile: Bool

    /// Returns the error of the hop; nil if it has succeeded or its client wanted no more content.
    ///
    /// - Parameters:
    ///   - result: The result of the exchange.
    ///   - url: The URL of the request.
    ///   - streamFailure: The error of the stream with the request's body.
    ///   - networkError: Returns the error for a failure of the exchange that has none of these causes.
    func error(
        of result: Result<Fields, TransportError>, _ url: URL?, _ streamFailure: (any Error)?,
        networkError: (TransportError) -> URLError
    ) -> (any Error)? {
        if let failure { return failure }
        guard case .failure(let error) = result else { return nil }
        // If the client wants no more content, the cancellation of the exchange is no error of the hop.
        if discardsContent, error == .cancelled { return nil }
        switch streamFailure {
        case let failure as BodyStreamSource.Failure:
            return URLError.loading(.requestBodyStreamExhausted, url: url, underlying: failure)
        // An error of the program's stream is passed on unchanged (U-16.4).
        case let streamError?: return streamError
        case nil: break
        }
        // While the content goes into a file, a file error is about writing that file.
        if goesToFile, case .file = error {
            return URLError.loading(.cannotWriteToFile, url: url, underlying: error)
        }
        return networkError(error)
    }
}

/// Decides when the progress of sending a body is reported: at most every 50 ms, and when the whole body has been sent (U-7.7).
/// Each report is greater than the one before.
struct SendProgress: Sendable {
    /// The length of the body; nil if unknown.
    let expectedBytes: Int64?
    private var sentBytes: Int64 = 0
    private var reportedBytes: Int64 = 0
    private var lastReportTime: Instant?

    init(expectedBytes: Int64?) { self.expectedBytes = expectedBytes }

    /// Sets the counts to 0, because the body is sent again from its beginning.
    mutating func restart() { self = SendProgress(expectedBytes: expectedBytes) }

    /// Records how many bytes have been sent in all. Returns the number to report at once; nil if nothing has to be reported yet.
    mutating func update(_ total: Int64, at now: Instant) -> Int64? {
        sentBytes = total
        if total != expectedBytes, let lastReportTime, now < lastReportTime + Self.reportInterval {
            return nil
        }
        lastReportTime = now
        return takeUnreported()
    }

    /// Returns the number of bytes sent and marks it as reported. Returns nil if it has been reported before.
    mutating func takeUnreported() -> Int64? {
        guard sentBytes > reportedBytes else { return nil }
        reportedBytes = sentBytes
        return sentBytes
    }

    /// The minimum time between two reports, except for the last one.
    private static let reportInterval = Interval.milliseconds(50)
}
