// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP

/// Where a connection's events become what a task awaits: the head once, then pieces of content, then the end.
///
/// It holds a few pieces at most. When more comes than is taken, the connection pauses; taking resumes it. The
/// connection's side is called on its loop, the task's side anywhere.
final class BodyInlet: ExchangeSink {
    typealias HeadReader = CheckedContinuation<Result<ResponseHead, TransportError>, Never>
    typealias PieceReader = CheckedContinuation<Result<[UInt8]?, TransportError>, Never>

    private struct State: Sendable {
        var exchange: Exchange?
        var head: Result<ResponseHead, TransportError>?
        var headReader: HeadReader?
        var pieces: [[UInt8]] = []
        /// Octets in `pieces`.
        var held = 0
        var isPaused = false
        var isAbandoned = false
        var end: Result<Void, TransportError>?
        var pieceReader: PieceReader?
    }

    private let state = Lock(State())
    /// Undoes the content coding; only the loop looks at it.
    private let decoder = Lock<CodingStream?>(nil)
    private let decodes: Bool
    private let host: String

    /// Above it the connection pauses, at half of it the connection goes on.
    private static let highWater = 256 * 1024

    init(decodes: Bool, host: String) {
        self.decodes = decodes
        self.host = host
    }

    // MARK: the task's side

    /// Submits the exchange and waits for the head of its response.
    func head(of exchange: Exchange, through pool: ConnectionPool) async throws(TransportError)
        -> ResponseHead
    {
        state.withLock { $0.exchange = exchange }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: HeadReader) in
                state.withLock { $0.headReader = reader }
                pool.submit(exchange)
            }
        } onCancel: {
            exchange.cancel(.cancelled)
        }
        return try result.get()
    }

    /// The next piece; nil at the end.
    func next() async throws(TransportError) -> [UInt8]? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: PieceReader) in take(for: reader) }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    private func take(for reader: PieceReader) {
        let (answer, resumed) = state.withLock { state -> (Result<[UInt8]?, TransportError>?, Exchange?) in
            if !state.pieces.isEmpty {
                let piece = state.pieces.removeFirst()
                state.held -= piece.count
                guard state.isPaused, state.held <= Self.highWater / 2 else { return (.success(piece), nil) }
                state.isPaused = false
                return (.success(piece), state.exchange)
            }
            if let end = state.end { return (end.map { nil }, nil) }
            precondition(state.pieceReader == nil, "a body is read by one task at a time")
            state.pieceReader = reader
            return (nil, nil)
        }
        resumed?.resume()
        if let answer { reader.resume(returning: answer) }
    }

    private func cancel() {
        let exchange = state.withLock { $0.exchange }
        exchange?.cancel(.cancelled)
    }

    /// Nobody will take any more of it.
    func abandon() {
        let exchange = state.withLock { state -> Exchange? in
            state.isAbandoned = true
            state.pieces = []
            state.held = 0
            return state.exchange
        }
        exchange?.cancel(.cancelled)
    }

    // MARK: the connection's side

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        if decodes { prepareDecoder(head) }
        let (reader, isAbandoned) = state.withLock { state -> (HeadReader?, Bool) in
            state.head = .success(head)
            return (state.headReader.take(), state.isAbandoned)
        }
        reader?.resume(returning: .success(head))
        return isAbandoned ? .skip : .deliver
    }

    /// A coding that nobody here can undo is left to the caller, with its field.
    private func prepareDecoder(_ head: ResponseHead) {
        let lines = head.fields.values(of: .contentEncoding)
        guard !lines.isEmpty, let codings = try? ContentCoding.list(lines), !codings.isEmpty else { return }
        decoder.withLock { $0 = CodingStream(codings) }
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        var piece: [UInt8] = []
        do throws(CodingError) {
            try decoder.withLock { decoder throws(CodingError) in
                if let decoder {
                    try decoder.push(bytes) { piece.append(span: $0) }
                } else {
                    piece.append(span: bytes)
                }
            }
        } catch {
            deliver(piece, end: .failure(.coding(host: host, error)))
            return .enough
        }
        return deliver(piece, end: nil)
    }

    @discardableResult
    private func deliver(_ piece: [UInt8], end: Result<Void, TransportError>?) -> Demand {
        let (reader, answer, demand) = state.withLock {
            state -> (PieceReader?, Result<[UInt8]?, TransportError>?, Demand) in
            if state.end == nil { state.end = end }
            if state.isAbandoned { return (state.pieceReader.take(), .failure(.cancelled), .enough) }
            if let reader = state.pieceReader {
                guard piece.isEmpty else {
                    state.pieceReader = nil
                    return (reader, .success(piece), .more)
                }
                guard let end = state.end else { return (nil, nil, .more) }
                state.pieceReader = nil
                return (reader, end.map { nil }, .more)
            }
            if !piece.isEmpty {
                state.pieces.append(piece)
                state.held += piece.count
            }
            guard state.held > Self.highWater, state.end == nil else { return (nil, nil, .more) }
            state.isPaused = true
            return (nil, nil, .pause)
        }
        if let reader, let answer { reader.resume(returning: answer) }
        return demand
    }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        var end = result.map { _ in }
        if case .success = result {
            do throws(CodingError) {
                try decoder.withLock { decoder throws(CodingError) in try decoder?.finish() }
            } catch { end = .failure(.coding(host: host, error)) }
        }
        let headReader = state.withLock { state -> HeadReader? in
            state.exchange = nil
            return state.headReader.take()
        }
        if let headReader {
            switch result {
            case .failure(let error): headReader.resume(returning: .failure(error))
            case .success: headReader.resume(returning: .failure(.cancelled))
            }
        }
        deliver([], end: end)
    }
}

extension [UInt8] {
    fileprivate mutating func append(span bytes: Span<UInt8>) {
        // Adding nothing would write into the storage that all empty arrays of the process share.
        if bytes.isEmpty { return }
        // Adding nothing to an empty array would write to the storage that all empty arrays share.
        guard !bytes.isEmpty else { return }
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
    }
}
