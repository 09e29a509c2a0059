// SPDX-License-Identifier: MIT

import LupineCoding
import LupineHTTP
import LupineTLS

/// Delivers the response that a connection receives to the task that awaits it: the head, then pieces of content, then the end.
///
/// The sink stores a few pieces at most. When more content arrives than the task reads, the connection pauses until the task has
/// read enough pieces. The connection calls the sink on its loop, the task on any thread. The task is not woken at each event,
/// but when the connection has delivered all its input and its loop's turn ends. A response that arrived in one read therefore
/// costs one wake-up, the two sides do not contend for the lock, and the threads that run the tasks of one turn wake together.
final class ResponseSink: ExchangeSink, TurnEndListener {
    /// The continuation of a task that waits for the head.
    typealias HeadReader = CheckedContinuation<Result<ResponseHead, TransportError>, Never>
    /// The continuation of a task that waits for a piece; it is resumed with nil at the end.
    typealias PieceReader = CheckedContinuation<Result<[UInt8]?, TransportError>, Never>

    private struct State: Sendable {
        /// The exchange; nil before it is submitted and after its end.
        var exchange: Exchange?
        /// The loop that the exchange runs on.
        var loop: EventLoop?
        var head: ResponseHead?
        var headReader: HeadReader?
        /// The content that the task has not read.
        var pieces: [[UInt8]] = []
        /// The number of octets in `pieces`.
        var waitingOctets = 0
        /// Whether the connection has paused because too much content waits.
        var isPaused = false
        /// Whether the program will read no more of the content.
        var isAbandoned = false
        /// Whether each chunk of a chunked response becomes a separate piece, as long as not too many wait.
        var keepsChunks = false
        /// Whether the head announced that no content follows.
        var isEmpty = false
        /// How the response ended; nil while it may continue.
        var end: Result<Void, TransportError>?
        var pieceReader: PieceReader?
        /// The number of octets of content after decoding.
        var decodedOctets: Int64 = 0
        var metrics: TransferMetrics?

        /// Appends content. Small pieces are merged, except the first chunks of a chunked response.
        mutating func append(_ bytes: Span<UInt8>) {
            waitingOctets += bytes.count
            decodedOctets += Int64(bytes.count)
            let isSeparate = keepsChunks && pieces.count < ResponseSink.chunkLimit
            if !isSeparate, let last = pieces.indices.last,
                pieces[last].count + bytes.count <= ResponseSink.mergedPieceLimit
            {
                pieces[last].append(bytes, bytes.indices)
            } else {
                var piece: [UInt8] = []
                piece.append(bytes, bytes.indices)
                pieces.append(piece)
            }
        }

        /// Removes and returns the next piece. Without a piece, returns the end: nil in `answer`, or an error. Returns nil if
        /// neither a piece nor the end has arrived. If the connection has paused and few enough pieces are left,
        /// `exchangeToResume` is its exchange.
        mutating func removePiece()
            -> (answer: Result<[UInt8]?, TransportError>, exchangeToResume: Exchange?)?
        {
            if isAbandoned { return (.failure(.cancelled), nil) }
            guard !pieces.isEmpty else {
                guard let end else { return nil }
                // A success becomes nil, which stands for the end of the content; an error stays.
                return (end.map { nil }, nil)
            }
            let piece = pieces.removeFirst()
            waitingOctets -= piece.count
            guard isPaused, waitingOctets <= ResponseSink.pauseThreshold / 2 else {
                return (.success(piece), nil)
            }
            isPaused = false
            return (.success(piece), exchange)
        }

        /// Removes the continuation that can be resumed now, and returns it with its result; nil if there is none.
        mutating func removeReadyReader() -> ReadyReader? {
            if let reader = headReader {
                if let head {
                    headReader = nil
                    return .head(reader, .success(head))
                }
                guard let end else { return nil }
                headReader = nil
                switch end {
                case .failure(let error): return .head(reader, .failure(error))
                // Impossible: an exchange succeeds only after its head has arrived.
                case .success: return .head(reader, .failure(.cancelled))
                }
            }
            guard let reader = pieceReader, let (answer, exchangeToResume) = removePiece() else { return nil }
            pieceReader = nil
            return .piece(reader, answer, exchangeToResume: exchangeToResume)
        }
    }

    /// A continuation to resume, and its result.
    private enum ReadyReader: Sendable {
        case head(HeadReader, Result<ResponseHead, TransportError>)
        case piece(PieceReader, Result<[UInt8]?, TransportError>, exchangeToResume: Exchange?)
    }

    private let state = Lock(State())
    /// The decoder of the content coding; nil if content is not decoded. Used only on the loop.
    private let decoder = Lock<ContentDecoder?>(nil)
    private let decodes: Bool
    private let expansionLimit: ExpansionLimit
    private let host: String
    private let port: UInt16

    /// The number of waiting octets above which the connection pauses. It resumes when half of that number is left.
    private static let pauseThreshold = 256 * 1024
    /// The number of chunks that may wait separately; later ones are merged.
    private static let chunkLimit = 64
    /// The size up to which pieces are merged.
    private static let mergedPieceLimit = 16 * 1024

    /// Creates a sink. If `decodes` is true, it decodes content codings, up to `expansionLimit`. `host` and `port` name the peer
    /// in an error.
    init(decodes: Bool, upTo expansionLimit: ExpansionLimit = .standard, host: String, port: UInt16) {
        self.decodes = decodes
        self.expansionLimit = expansionLimit
        self.host = host
        self.port = port
    }

    // MARK: the task's side

    /// Submits the exchange and returns the head of its response. Throws if the exchange ends without a head, or if the task is
    /// cancelled.
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
        // Tells ThreadSanitizer that the thread that resumed this task was inside the lock before.
        state.showOrder()
        return try result.get()
    }

    /// Returns the next piece, and waits for it if necessary; nil at the end. Throws the error that ended the content early.
    func next() async throws(TransportError) -> [UInt8]? {
        if let (answer, exchangeToResume) = state.withLock({ $0.removePiece() }) {
            if let exchangeToResume { resumeReading(exchangeToResume) }
            return try answer.get()
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (reader: PieceReader) in
                let isFirst = state.withLock { state -> Bool in
                    guard state.pieceReader == nil else { return false }
                    state.pieceReader = reader
                    return true
                }
                guard isFirst else {
                    reader.resume(
                        returning: .failure(.unsupported("a body is read by one task at a time")))
                    return
                }
                // A piece or the end may have arrived before the reader was stored.
                wake()
            }
        } onCancel: {
            cancel()
        }
        // Tells ThreadSanitizer that the thread that resumed this task was inside the lock before.
        state.showOrder()
        return try result.get()
    }

    /// Resumes the task that waits for the head or a piece, if what it waits for, or the end, has arrived.
    private func wake() {
        switch state.withLock({ $0.removeReadyReader() }) {
        case .head(let reader, let head): reader.resume(returning: head)
        case .piece(let reader, let answer, let exchangeToResume):
            if let exchangeToResume { resumeReading(exchangeToResume) }
            reader.resume(returning: answer)
        case nil: break
        }
    }

    /// Cancels the exchange, if it has not ended.
    private func cancel() {
        let exchange = state.withLock { $0.exchange }
        exchange?.cancel(.cancelled)
    }

    /// Discards the response of a redirect. If it has no content, waits for its end, which follows the head at once: its
    /// connection is then free for the next request.
    func discard() async {
        guard state.withLock({ $0.isEmpty }) else { return abandon() }
        // The result, nil or an error, is not needed: the next request does not depend on how this response ended.
        _ = try? await next()
    }

    /// The metrics of the exchange; nil until it has ended.
    var metrics: TransferMetrics? { state.withLock { $0.metrics } }

    /// Called when the program will read no more of the content: ends the exchange.
    func abandon() {
        let exchange = state.withLock { state -> Exchange? in
            state.isAbandoned = true
            state.pieces = []
            state.waitingOctets = 0
            return state.exchange
        }
        exchange?.skip()
    }

    // MARK: the connection's side

    func begins(on loop: EventLoop, over evidence: PeerEvidence?) { state.withLock { $0.loop = loop } }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        // Content with an unsupported coding is passed to the program undecoded.
        let codings = decodes ? ContentDecoder.codings(of: head, framing: framing) : []
        let isDecoded = !codings.isEmpty
        if isDecoded { decoder.withLock { $0 = ContentDecoder(codings, limit: expansionLimit) } }
        let isAbandoned = state.withLock { state -> Bool in
            state.keepsChunks = framing == .chunked && !isDecoded
            state.isEmpty = framing == .none
            state.head = head
            return state.isAbandoned
        }
        return isAbandoned ? .skip : .deliver
    }

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        guard decodes, decoder.withLock({ $0 != nil }) else { return deliver(bytes) }
        return decode(bytes)
    }

    /// Decodes content piece by piece, and delivers it. While the task does not read, the rest of the input stays encoded, so
    /// that the expansion of a small body is never in memory as a whole. Long decoding yields to the loop's other connections,
    /// even if it produces no output.
    private func decode(_ bytes: Span<UInt8>) -> Demand {
        var start = 0
        while true {
            let remaining = bytes.extracting(droppingFirst: start)
            let (exchange, loop) = state.withLock { ($0.exchange, $0.loop) }
            let (result, piece, isAllowanceSpent) = decoder.withLock { decoder in
                var piece: [UInt8] = []
                let result = decoder?.decode(remaining) { piece.append($0, $0.indices) } ?? .inputConsumed
                let isSpent = loop.flatMap { decoder?.isAllowanceSpent(after: result, on: $0) } ?? false
                return (result, piece, isSpent)
            }
            let demand = deliver(piece.span)
            var isInputLeft = true
            switch result {
            case .failed(let error):
                finish(.failure(.coding(host: host, port: port, error)))
                return .enough
            case .inputConsumed: isInputLeft = false
            case .pieceFull(let consumed), .limitReached(let consumed): start += consumed
            }
            // Whether decoding continues in a later turn, after the loop's other connections.
            var yields = false
            if case .more = demand { yields = isAllowanceSpent }
            if !yields {
                if !isInputLeft { return demand }
                if case .more = demand { continue }
            }
            // The rest of the input waits: the task must read first, or the turn is used up.
            if isInputLeft {
                var rest: [UInt8] = []
                rest.append(bytes, start..<bytes.count)
                // A constant, because the closure below must not capture a variable.
                let pendingInput = rest
                decoder.withLock { $0?.pendingInput = pendingInput }
            }
            guard yields else { return demand }
            // As in `deliver`: a pausing connection does not call `inputExhausted`.
            wakeSoon()
            // Continues in a later loop job, as after a pause.
            if let exchange { resumeReading(exchange) }
            return .pause
        }
    }

    /// Continues after a pause: first with the waiting encoded bytes, then with the connection. Runs in a separate loop job,
    /// after the call that led to the pause has returned.
    private func resumeReading(_ exchange: Exchange) {
        guard decodes, let loop = state.withLock({ $0.loop }) else { return exchange.resume() }
        _ = loop.execute { self.resumeOnLoop(exchange) }
    }

    /// Decodes the waiting bytes, and then resumes the connection if the task can accept more.
    private func resumeOnLoop(_ exchange: Exchange) {
        let waiting = decoder.withLock { $0?.pendingInput.take() }
        if let waiting {
            switch decode(waiting.span) {
            case .more: break
            case .pause: return
            case .enough: return exchange.skip()
            }
        }
        exchange.resumeNow()
    }

    /// Stores content for the task. Returns `.pause` when too much content waits.
    private func deliver(_ bytes: Span<UInt8>) -> Demand {
        let demand = state.withLock { state -> Demand in
            if state.isAbandoned { return .enough }
            if !bytes.isEmpty { state.append(bytes) }
            guard state.waitingOctets > Self.pauseThreshold else { return .more }
            state.isPaused = true
            return .pause
        }
        // A pausing connection does not call `inputExhausted`.
        if case .pause = demand { wakeSoon() }
        return demand
    }

    func inputExhausted() -> Demand {
        wakeSoon()
        return .more
    }

    /// Wakes the waiting task at the end of the loop's turn, or immediately if called on another thread.
    private func wakeSoon() {
        let (loop, hasReader) = state.withLock { state in
            (state.loop, state.headReader != nil || state.pieceReader != nil)
        }
        guard hasReader else { return }
        if let loop, loop.isOnLoop { loop.atTurnEnd(self) } else { wake() }
    }

    func turnEnded() { wake() }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        var end = result.map { _ in }
        if decodes, case .success = result {
            // If encoded bytes still wait, the program has abandoned the content, and its end is not checked.
            if let error = decoder.withLock({ $0?.finish() }) {
                end = .failure(.coding(host: host, port: port, error))
            }
        }
        state.withLock { $0.metrics = TransferMetrics(metrics, decoded: $0.decodedOctets) }
        finish(end)
        wakeSoon()
    }

    /// Records how the response ended; a second call does not replace the first result.
    private func finish(_ end: Result<Void, TransportError>) {
        state.withLock { state in
            state.exchange = nil
            if state.end == nil { state.end = end }
        }
    }
}
