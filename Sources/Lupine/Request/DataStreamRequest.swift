// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request whose content is delivered piece by piece and is not stored.
///
/// Slow handlers exert back pressure: the request holds the task's content. The task then delivers no content, and its connection
/// is not read. The content is held while more than `StreamBacklog.highWater` bytes wait for the handlers, including the bytes
/// in the buffers of asynchronous sequences. It is also held while the buffer of `asInputStream(bufferSize:)` is full.
public final class DataStreamRequest: Request, @unchecked Sendable {
    /// Receives the pieces and the end of the stream. An error that it throws for a piece fails and cancels the request; an
    /// error that it throws for the end is ignored.
    public typealias Handler<Success: Sendable, Failure: Error & Sendable> =
        @Sendable (_ stream: Stream<Success, Failure>) throws -> Void

    /// The argument of a handler.
    public struct Stream<Success: Sendable, Failure: Error & Sendable>: Sendable {
        /// The event.
        public let event: Event<Success, Failure>
        /// Cancels the request.
        public let token: CancellationToken
        /// The number of content bytes for which this event counts: those of the received piece. If the piece yields several
        /// values, this is zero for all but the first.
        var weight = 0

        /// Cancels the request.
        public func cancel() { token.cancel() }
    }

    /// An event of a stream.
    public enum Event<Success: Sendable, Failure: Error & Sendable>: Sendable {
        /// A piece was received, or could not be serialized.
        case stream(Result<Success, Failure>)
        /// The request has ended. This is the last event.
        case complete(Completion)
    }

    /// The outcome of a stream.
    public struct Completion: Sendable {
        /// The latest request.
        public let request: URLRequest?
        /// The response to the latest request.
        public let response: HTTPURLResponse?
        /// The metrics of the latest task.
        public let metrics: URLSessionTaskMetrics?
        /// The error; nil if the request succeeded.
        public let error: AFError?
    }

    /// Cancels a request without keeping it alive.
    public struct CancellationToken: Sendable {
        /// `@unchecked Sendable`, because the compiler treats a weak reference as mutable.
        private struct Target: @unchecked Sendable {
            weak var request: DataStreamRequest?
        }

        private let target: Target

        init(_ request: DataStreamRequest) { target = Target(request: request) }

        /// Cancels the request.
        public func cancel() { target.request?.cancel() }
    }

    /// A consumer of pieces, called on the root queue.
    fileprivate struct PieceConsumer: Sendable {
        let consume: @Sendable (DataStreamRequest, Data) -> Void
    }

    /// The mutable state in addition to that of `Request`.
    struct StreamState {
        /// The handler that decides whether the content of a response is received.
        fileprivate var httpResponseHandler: HTTPResponseHandler?
        /// The file that is sent in place of the request's body.
        fileprivate var bodyFile: URL?
        /// Opens the file that receives the content in place of the handlers.
        fileprivate var openFile: (@Sendable (URLResponse) -> FileHandle?)?
        /// The consumers of pieces, one per handler. Removed when the request has called its handlers.
        fileprivate var consumers: [PieceConsumer] = []
        /// Whether the request has called its handlers: handlers that are added later receive no pieces.
        fileprivate var isOver = false
        /// The number of pieces that the handlers have not processed yet, counted once per handler.
        fileprivate var pendingCount = 0
        /// The bytes of these pieces, and of the buffers of asynchronous sequences.
        fileprivate var backlog = StreamBacklog()
        /// Calls of handlers with the end of the stream, which wait until all pieces have been processed.
        fileprivate var completions: [Job] = []
        /// Feeds the stream of `asInputStream(bufferSize:)`.
        var feed: ContentFeed?
        /// Whether no more content will arrive.
        var hasContentEnded = false
        /// Which task's content is held.
        private var hold = TaskHold<URLSessionTask>()

        /// Decides to hold the content of `source` if the handlers or the stream's reader are too slow, otherwise to release the
        /// content of the held task.
        ///
        /// - Parameter source: The task that delivers content; nil if the call can only lead to a release.
        /// - Returns: The decision, which the caller passes to `apply` outside of the lock; nil if nothing changes.
        mutating func holdOrRelease(_ source: URLSessionTask? = nil) -> HoldDecision? {
            hold.decide(isFull: backlog.isFull || feed?.isFull ?? false, source)
        }
    }

    typealias HoldDecision = TaskHold<URLSessionTask>.Decision

    /// Applies a decision. On the root queue it thus applies to the next piece already. Does nothing if `decision` is nil.
    func apply(_ decision: HoldDecision?) {
        guard let decision else { return }
        decision.task.holdContent(decision.isHeld, decision: decision.number)
    }

    /// The value that each attempt converts to a `URLRequest`.
    public let convertible: any URLRequestConvertible
    /// Whether a piece that cannot be serialized cancels the request.
    public let automaticallyCancelOnStreamError: Bool
    let streamState = Protected(StreamState())

    init(
        convertible: any URLRequestConvertible, automaticallyCancelOnStreamError: Bool,
        underlyingQueue: DispatchQueue, serializationQueue: DispatchQueue,
        eventMonitor: CompositeEventMonitor?, interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?, delegate: any RequestDelegate
    ) {
        self.convertible = convertible
        self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
        super.init(
            underlyingQueue: underlyingQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: delegate)
    }

    override var preparation: Preparation { .conversion(convertible, upload: nil) }

    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let (file, openFile) = streamState.read { ($0.bodyFile, $0.openFile) }
        if file == nil, openFile == nil { return session.dataTask(with: request) }
        // Without a file, the task sends the request's body. If the closure returns nil, the request receives the content.
        return session.dataTask(with: request, sending: file, savingInto: openFile ?? { _ in nil })
    }

    // MARK: task callbacks, on the root queue

    /// Called with each attempt's response. `completion` receives the decision about its content.
    func didReceive(
        _ response: HTTPURLResponse,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let handler = streamState.read { $0.httpResponseHandler }
        HTTPResponseHandler.ask(handler, about: response, for: self, completion: completion)
    }

    /// Called with each piece of the content.
    func didReceive(_ data: Data) {
        let source = lastTask
        let (consumers, holdDecision) = streamState.write { state in
            state.feed?.put(data)
            // A piece counts once for each handler that has to process it.
            state.pendingCount += state.consumers.count
            for _ in state.consumers { state.backlog.add(StreamBacklog.weight(of: data.count)) }
            return (state.consumers, state.holdOrRelease(source))
        }
        apply(holdDecision)
        for consumer in consumers { consumer.consume(self, data) }
    }

    override func contentDidEnd() {
        let feed = streamState.write { state in
            state.hasContentEnded = true
            return state.feed.take()
        }
        feed?.end()
    }

    override func cleanup() {
        // The program's closures often retain the request in order to cancel it. They are released here, outside of the lock.
        let removedClosures = streamState.write { state in
            state.isOver = true
            defer { (state.consumers, state.httpResponseHandler, state.openFile) = ([], nil, nil) }
            return (state.consumers, state.httpResponseHandler, state.openFile)
        }
        withExtendedLifetime(removedClosures) {}
        super.cleanup()
    }

    // MARK: the response before its content

    // The same as in `DataRequest`: Alamofire declares these methods for data and stream requests.

    /// Calls `handler` on `queue` with each attempt's response. The handler decides whether the content is received. Until it
    /// calls its completion handler, the request receives no content.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main,
        perform handler:
            @escaping @Sendable (
                _ response: HTTPURLResponse,
                _ completionHandler: @escaping @Sendable (ResponseDisposition) -> Void
            ) -> Void
    ) -> Self {
        // `swap` moves the replaced handler out of the lock, where it is released.
        var newHandler: HTTPResponseHandler? = HTTPResponseHandler(queue: queue, closure: handler)
        streamState.write { swap(&$0.httpResponseHandler, &newHandler) }
        return self
    }

    /// Calls `handler` on `queue` with each attempt's response, before its content.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void
    ) -> Self {
        onHTTPResponse(on: queue) { response, completionHandler in
            handler(response)
            completionHandler(.allow)
        }
    }

    // MARK: files

    /// Sends a file as the body, in place of the request's body. The file is sent again from the beginning whenever a challenge,
    /// a redirect or another attempt requires that. Call this method before the first handler is added.
    @discardableResult
    public func sendContent(of file: URL) -> Self {
        streamState.write { $0.bodyFile = file }
        return self
    }

    /// Writes the content of each attempt into the file that `open` returns for the response. The handlers then receive only the
    /// end of the stream. If `open` returns nil, the handlers receive the content as usual.
    ///
    /// Meant for content that the program does not examine: if the content has no content coding and the connection is not
    /// encrypted, the kernel moves the content from the socket to the file. Call this method before the first handler is added.
    /// During the transfer, `task?.countOfBytesReceived` is the progress.
    ///
    /// - Parameter open: Called on the root queue after `onHTTPResponse` has allowed the response. Returns a regular file that is
    ///   open for writing, at the position where the content is to begin. The program closes the file when the request has
    ///   completed.
    @preconcurrency
    @discardableResult
    public func saveContent(into open: @escaping @Sendable (_ response: URLResponse) -> FileHandle?) -> Self {
        // `swap` moves the replaced closure out of the lock, where it is released.
        var openFile: (@Sendable (URLResponse) -> FileHandle?)? = open
        streamState.write { swap(&$0.openFile, &openFile) }
        return self
    }

    // MARK: the pieces

    /// Calls `stream` on `queue` with each piece as it arrives, then with the end.
    @preconcurrency
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>
    ) -> Self {
        appendHandler(stream, on: queue) { request, data in
            request.deliver([.success(data)], byteCount: data.count, to: stream, on: queue)
        }
    }

    /// Calls `stream` on `queue` with the value that `serializer` makes of each piece, then with the end. A serializer may make
    /// several values of a piece, or one value of several pieces: `stream` is called for each value.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main,
        stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        appendSerialization(StreamSerialization(serializer), stream, on: queue) { $0 }
    }

    /// Calls `stream` on `queue` with each piece as text, in whole characters, then with the end.
    @preconcurrency
    @discardableResult
    public func responseStreamString(
        on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>
    ) -> Self {
        appendSerialization(StreamSerialization(StringStreamSerializer()), stream, on: queue) { result in
            .success((try? result.get()) ?? "")
        }
    }

    /// Calls `stream` on `queue` with the value decoded from each piece, then with the end.
    @preconcurrency
    @discardableResult
    public func responseStreamDecodable<T: Decodable & Sendable>(
        of type: T.Type = T.self, on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor), on: queue,
            stream: stream)
    }

    /// Adds a handler of serialized pieces. The pieces are serialized in order, on a serial queue that targets the serialization
    /// queue, which need not be serial.
    ///
    /// - Parameters:
    ///   - serialization: Makes values of the pieces.
    ///   - handler: The handler.
    ///   - queue: The queue on which the handler is called.
    ///   - convert: Converts a result, as the monitors receive it, for the handler.
    private func appendSerialization<Value, Failure>(
        _ serialization: StreamSerialization<Value>, _ handler: @escaping Handler<Value, Failure>,
        on queue: DispatchQueue,
        convert: @escaping @Sendable (AFResult<Value>) -> Result<Value, Failure>
    ) -> Self {
        let serialQueue = DispatchQueue(
            label: "\(serializationQueue.label).stream", target: serializationQueue)
        return appendHandler(
            handler, on: queue,
            consume: { request, data in
                let attempt = request.retryCount
                serialQueue.async {
                    let results = serialization.results(of: data, attempt: attempt)
                    request.underlyingQueue.async {
                        request.deliverSerialized(
                            results, byteCount: data.count, to: handler, on: queue, convert: convert)
                    }
                }
            },
            end: { request, completion in
                serialQueue.async {
                    let results = serialization.lastResults(attempt: request.retryCount)
                    // The results count as a pending piece of no bytes, until `deliverSerialized` has delivered them.
                    if !results.isEmpty { request.streamState.write { $0.pendingCount += 1 } }
                    request.underlyingQueue.async {
                        if !results.isEmpty {
                            request.deliverSerialized(
                                results, byteCount: 0, to: handler, on: queue, convert: convert)
                        }
                        completion()
                    }
                }
            })
    }

    /// Adds a handler.
    ///
    /// - Parameters:
    ///   - handler: The handler.
    ///   - queue: The queue on which the handler is called.
    ///   - consume: Processes a piece and finally calls `deliver`. Called on the root queue.
    ///   - end: Processes the bytes that the serializer has stored after the last piece, then calls its argument `completion` on
    ///     the root queue. Nil if there is no serializer. Not called if the request has failed.
    private func appendHandler<Success, Failure>(
        _ handler: @escaping Handler<Success, Failure>, on queue: DispatchQueue,
        consume: @escaping @Sendable (DataStreamRequest, Data) -> Void,
        end: (@Sendable (DataStreamRequest, _ completion: @escaping @Sendable () -> Void) -> Void)? = nil
    ) -> Self {
        // A handler that is added after the request has ended receives only the end.
        streamState.write { state in
            if !state.isOver { state.consumers.append(PieceConsumer(consume: consume)) }
        }
        // In the request's chain of serializers, the end of the stream takes the place of a serializer.
        pass.append(needsSerializationQueue: true) { isInStep in
            let completion = { @Sendable in self.pass.complete { self.complete(handler, on: queue) } }
            if let end, self.error == nil {
                end(self, completion)
            } else {
                self.pass.continueAfterSerializer(isInStep: isInStep, completion)
            }
        }
        return self
    }

    /// Reports serialized values to the monitors, then delivers them to a handler.
    ///
    /// - Parameters:
    ///   - results: The values that the serializer has made of a piece, or its error.
    ///   - byteCount: The number of bytes in the piece.
    ///   - handler: The handler.
    ///   - queue: The queue on which the handler is called.
    ///   - convert: Converts a result for the handler.
    private func deliverSerialized<Success: Sendable, Failure>(
        _ results: [AFResult<Success>], byteCount: Int, to handler: @escaping Handler<Success, Failure>,
        on queue: DispatchQueue, convert: (AFResult<Success>) -> Result<Success, Failure>
    ) {
        for result in results {
            monitorsOfAllEvents?.request(self, didParseStream: result)
            if case .failure = result, automaticallyCancelOnStreamError { cancel() }
        }
        deliver(results.map(convert), byteCount: byteCount, to: handler, on: queue)
    }

    /// Calls a handler with the results of a piece of `byteCount` bytes. An error that the handler throws fails and cancels the
    /// request.
    private func deliver<Success, Failure>(
        _ results: [Result<Success, Failure>], byteCount: Int,
        to handler: @escaping Handler<Success, Failure>, on queue: DispatchQueue
    ) {
        // The serializer waits for more pieces.
        if results.isEmpty { return didHandlePiece(byteCount: byteCount) }
        queue.async {
            for (index, result) in results.enumerated() {
                do {
                    try handler(
                        Stream(
                            event: .stream(result), token: CancellationToken(self),
                            weight: index == 0 ? byteCount : 0))
                } catch {
                    self.error = error.asAFError(
                        or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
                    self.cancel()
                }
            }
            self.didHandlePiece(byteCount: byteCount)
        }
    }

    /// Adds bytes that an asynchronous sequence has buffered to the backlog, or removes bytes if `byteCount` is negative.
    func changeBacklog(by byteCount: Int) {
        let source = lastTask
        let holdDecision = streamState.write { state in
            if byteCount > 0 { state.backlog.add(byteCount) } else { state.backlog.remove(-byteCount) }
            return state.holdOrRelease(source)
        }
        apply(holdDecision)
    }

    /// Called when a handler has processed a piece of `byteCount` bytes. Runs the waiting completion calls after the last piece.
    private func didHandlePiece(byteCount: Int) {
        let (completions, holdDecision) = streamState.write { state -> ([Job], HoldDecision?) in
            state.pendingCount -= 1
            state.backlog.remove(StreamBacklog.weight(of: byteCount))
            let holdDecision = state.holdOrRelease()
            guard state.pendingCount == 0 else { return ([], holdDecision) }
            defer { state.completions = [] }
            return (state.completions, holdDecision)
        }
        apply(holdDecision)
        for completion in completions { completion.run() }
    }

    /// Calls a handler with the end of the stream when all handlers have processed all pieces (DS-6).
    private func complete<Success, Failure>(
        _ handler: @escaping Handler<Success, Failure>, on queue: DispatchQueue
    ) {
        let completion = Job {
            queue.async {
                let completion = Completion(
                    request: self.request, response: self.response, metrics: self.metrics, error: self.error)
                try? handler(Stream(event: .complete(completion), token: CancellationToken(self)))
            }
        }
        let isReady = streamState.write { state in
            if state.pendingCount > 0 { state.completions.append(completion) }
            return state.pendingCount == 0
        }
        if isReady { completion.run() }
    }
}

extension DataStreamRequest.Stream {
    /// The result of a piece; nil for the end.
    public var result: Result<Success, Failure>? {
        guard case .stream(let result) = event else { return nil }
        return result
    }

    /// The value of a piece; nil for a failure and for the end.
    public var value: Success? {
        guard case .success(let value) = result else { return nil }
        return value
    }

    /// The error of a piece that could not be serialized; otherwise nil.
    public var error: Failure? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// The outcome of the stream; nil for a piece.
    public var completion: DataStreamRequest.Completion? {
        guard case .complete(let completion) = event else { return nil }
        return completion
    }
}
