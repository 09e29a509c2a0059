// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request whose content is handed over piece by piece, and kept nowhere.
///
/// Handlers that are slower than the server slow it down: while more than `StreamBacklog.highMark` waits for them, in the
/// buffers of asynchronous sequences too, or while the reader of `asInputStream(bufferSize:)` makes no room, the task's content is held, and its connection is not read.
public final class DataStreamRequest: Request, @unchecked Sendable {
    /// Hears of the pieces and of the end. What it throws for a piece fails and cancels the request.
    public typealias Handler<Success: Sendable, Failure: Error & Sendable> =
        @Sendable (_ stream: Stream<Success, Failure>) throws -> Void

    /// What a handler hears.
    public struct Stream<Success: Sendable, Failure: Error & Sendable>: Sendable {
        /// What has happened.
        public let event: Event<Success, Failure>
        /// Cancels the request.
        public let token: CancellationToken
        /// How many bytes it stands for: the piece's, with the first that is made of it.
        var weight = 0

        /// Cancels the request.
        public func cancel() { token.cancel() }
    }

    /// What has happened to a stream.
    public enum Event<Success: Sendable, Failure: Error & Sendable>: Sendable {
        /// A piece has come, or could not be made into a value.
        case stream(Result<Success, Failure>)
        /// The request has ended. Nothing more comes.
        case complete(Completion)
    }

    /// How a stream ended.
    public struct Completion: Sendable {
        /// The request that was sent last.
        public let request: URLRequest?
        /// The response to it.
        public let response: HTTPURLResponse?
        /// What was measured of it.
        public let metrics: URLSessionTaskMetrics?
        /// Why it failed; nil when it did not.
        public let error: AFError?
    }

    /// Cancels a request that it does not keep alive.
    public struct CancellationToken: Sendable {
        private struct Target: @unchecked Sendable {
            weak var request: DataStreamRequest?
        }

        private let target: Target

        init(_ request: DataStreamRequest) { target = Target(request: request) }

        /// Cancels the request.
        public func cancel() { target.request?.cancel() }
    }

    /// Takes a piece, on the root queue.
    fileprivate struct Taker: Sendable {
        let take: @Sendable (DataStreamRequest, Data) -> Void
    }

    /// What changes besides the state of any request.
    struct StreamState {
        fileprivate var gate: ResponseGate?
        /// What is sent in place of the request's body.
        fileprivate var bodyFile: URL?
        /// Opens the file that content goes into instead.
        fileprivate var opening: (@Sendable (URLResponse) -> FileHandle?)?
        /// Who is given the pieces, as long as some may come.
        fileprivate var takers: [Taker] = []
        fileprivate var isOver = false
        /// Pieces that handlers have not dealt with yet, all handlers together.
        fileprivate var outstanding = 0
        /// Their bytes.
        fileprivate var backlog = StreamBacklog()
        /// Ends that wait for them.
        fileprivate var completions: [Job] = []
        /// Feeds the stream that is read instead of, or besides, handlers being called.
        var feed: ContentFeed?
        /// No content comes any more.
        var hasEnded = false
        /// The task whose content is held.
        private var held: URLSessionTask?
        /// What is to be done to tasks, outside of the lock and in that order.
        fileprivate var holds = OrderedActions<Hold>()

        /// Holds the content of the task that it comes from, or lets it go on, as those who are given it can bear. What
        /// it returns is to be given to `perform`.
        mutating func balance(_ source: URLSessionTask? = nil) -> Hold? {
            if backlog.isFull || feed?.isFull ?? false {
                guard let source, source !== held else { return nil }
                held = source
                return holds.take(Hold(task: source, isHeld: true))
            }
            return held.take().flatMap { holds.take(Hold(task: $0, isHeld: false)) }
        }
    }

    /// That a task's content is held, or goes on.
    struct Hold: Sendable {
        fileprivate let task: URLSessionTask
        fileprivate let isHeld: Bool
    }

    /// Holds content, or lets it go on, and does what was decided meanwhile; nil is somebody else's to perform.
    func perform(_ hold: Hold?) {
        var hold = hold
        while let current = hold {
            current.task.holdContent(current.isHeld)
            hold = streamState.write { $0.holds.next() }
        }
    }

    /// What the request is made of, on each attempt.
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
        let (file, opening) = streamState.read { ($0.bodyFile, $0.opening) }
        if file == nil, opening == nil { return session.dataTask(with: request) }
        return session.dataTask(with: request, sending: file, savingInto: opening ?? { _ in nil })
    }

    // MARK: what the task tells, on the root queue

    func didReceive(
        _ response: HTTPURLResponse,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        ResponseGate.ask(streamState.read { $0.gate }, about: response, for: self, completion: completion)
    }

    func didReceive(_ data: Data) {
        let source = lastTask
        let (takers, hold) = streamState.write { state in
            state.feed?.put(data)
            state.outstanding += state.takers.count
            for _ in state.takers { state.backlog.add(StreamBacklog.weight(of: data.count)) }
            return (state.takers, state.balance(source))
        }
        perform(hold)
        for taker in takers { taker.take(self, data) }
    }

    override func contentEnds() {
        let feed = streamState.write { state in
            state.hasEnded = true
            return state.feed.take()
        }
        feed?.end()
    }

    /// Handlers often hold the request, to cancel it. They go outside of the lock.
    override func cleanup() {
        let held = streamState.write { state in
            state.isOver = true
            defer { (state.takers, state.gate, state.opening) = ([], nil, nil) }
            return (state.takers, state.gate, state.opening)
        }
        withExtendedLifetime(held) {}
        super.cleanup()
    }

    // MARK: the response's head

    /// Has `handler` decide on `queue` whether the content of each attempt's response is taken. Until it answers nothing is
    /// delivered.
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
        var gate: ResponseGate? = ResponseGate(queue: queue, closure: handler)
        streamState.write { swap(&$0.gate, &gate) }
        return self
    }

    /// Has `handler` called on `queue` with each attempt's response, before its content.
    @preconcurrency
    @discardableResult
    public func onHTTPResponse(
        on queue: DispatchQueue = .main, perform handler: @escaping @Sendable (HTTPURLResponse) -> Void
    ) -> Self {
        onHTTPResponse(on: queue) { response, answer in
            handler(response)
            answer(.allow)
        }
    }

    // MARK: files

    /// Has a file sent as the body, in place of the request's: from its beginning as often as a challenge, a redirect or
    /// another attempt asks for it. To be called before the first handler is added.
    @discardableResult
    public func sendContent(of file: URL) -> Self {
        streamState.write { $0.bodyFile = file }
        return self
    }

    /// Has the content of each attempt go straight into the file that `open` gives for its response, past the handlers,
    /// which only hear of the end. With nil the content comes to the handlers, as without this.
    ///
    /// For content that nobody has to look at: where it is not coded and the connection not encrypted the kernel moves it
    /// from the socket to the file. To be called before the first handler is added.
    ///
    /// - Parameter open: Called on the root queue after `onHTTPResponse` has allowed the response. Gives a regular file that is
    ///   open for writing at the position where the content is to go; whoever opened it closes it when the request has
    ///   completed. `task?.countOfBytesReceived` says how far it is.
    @preconcurrency
    @discardableResult
    public func saveContent(into open: @escaping @Sendable (_ response: URLResponse) -> FileHandle?) -> Self {
        var opening: (@Sendable (URLResponse) -> FileHandle?)? = open
        streamState.write { swap(&$0.opening, &opening) }
        return self
    }

    // MARK: the pieces

    /// Has `stream` called on `queue` with each piece as it comes, then with the end.
    @preconcurrency
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>
    ) -> Self {
        append(queue, stream) { request, data in
            request.deliver([.success(data)], of: data.count, to: stream, on: queue)
        }
    }

    /// Has `stream` called on `queue` with what `serializer` makes of each piece, then with the end. A serializer whose
    /// values span pieces has it called for each value.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main,
        stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        appendSerialization(StreamSerialization(serializer), queue, stream) { $0 }
    }

    /// Has `stream` called on `queue` with each piece as text, in whole characters, then with the end.
    @preconcurrency
    @discardableResult
    public func responseStreamString(
        on queue: DispatchQueue = .main, stream: @escaping Handler<String, Never>
    ) -> Self {
        appendSerialization(StreamSerialization(StringStreamSerializer()), queue, stream) { result in
            .success((try? result.get()) ?? "")
        }
    }

    /// Has `stream` called on `queue` with the value that each piece decodes to, then with the end.
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

    /// Adds a handler of what a serializer makes of the pieces, one after the other: on the serialization queue, which need not
    /// be serial. Its values are events; `outcome` is how the handler takes them.
    private func appendSerialization<Value, Failure>(
        _ serialization: StreamSerialization<Value>, _ queue: DispatchQueue,
        _ stream: @escaping Handler<Value, Failure>,
        outcome: @escaping @Sendable (AFResult<Value>) -> Result<Value, Failure>
    ) -> Self {
        let pieces = DispatchQueue(
            label: "\(serializationQueue.label).stream", target: serializationQueue)
        return append(
            queue, stream,
            take: { request, data in
                let attempt = request.retryCount
                pieces.async {
                    let results = serialization.results(of: data, attempt: attempt)
                    request.underlyingQueue.async {
                        request.parsed(results, of: data.count, for: stream, on: queue, outcome: outcome)
                    }
                }
            },
            end: { request, ended in
                pieces.async {
                    let results = serialization.lastResults(attempt: request.retryCount)
                    if !results.isEmpty { request.streamState.write { $0.outstanding += 1 } }
                    request.underlyingQueue.async {
                        if !results.isEmpty {
                            request.parsed(results, of: 0, for: stream, on: queue, outcome: outcome)
                        }
                        ended()
                    }
                }
            })
    }

    /// Adds a handler: `take` begins to deal with a piece, and ends with `deliver`; `end` deals with what a whole stream leaves
    /// behind its last piece, and says on the root queue that it has.
    private func append<Success, Failure>(
        _ queue: DispatchQueue, _ stream: @escaping Handler<Success, Failure>,
        take: @escaping @Sendable (DataStreamRequest, Data) -> Void,
        end: (@Sendable (DataStreamRequest, _ ended: @escaping @Sendable () -> Void) -> Void)? = nil
    ) -> Self {
        // What is added behind the end hears of that alone.
        streamState.write { state in
            if !state.isOver { state.takers.append(Taker(take: take)) }
        }
        appendSerializer(isForeign: true) { isInStep in
            let ended = { @Sendable in self.serialized { self.complete(stream, on: queue) } }
            if let end, self.error == nil { end(self, ended) } else { self.inStep(isInStep, ended) }
        }
        return self
    }

    private func parsed<Success: Sendable, Failure>(
        _ results: [AFResult<Success>], of count: Int, for stream: @escaping Handler<Success, Failure>,
        on queue: DispatchQueue, outcome: (AFResult<Success>) -> Result<Success, Failure>
    ) {
        for result in results {
            monitors?.request(self, didParseStream: result)
            if case .failure = result, automaticallyCancelOnStreamError { cancel() }
        }
        deliver(results.map(outcome), of: count, to: stream, on: queue)
    }

    /// Calls a handler with what has come of a piece of so many bytes. One that throws fails the request.
    private func deliver<Success, Failure>(
        _ results: [Result<Success, Failure>], of count: Int, to stream: @escaping Handler<Success, Failure>,
        on queue: DispatchQueue
    ) {
        if results.isEmpty { return dealtWithPiece(of: count) }
        queue.async {
            for (index, result) in results.enumerated() {
                do {
                    try stream(
                        Stream(
                            event: .stream(result), token: CancellationToken(self),
                            weight: index == 0 ? count : 0))
                } catch {
                    self.error = error.asAFError(
                        or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
                    self.cancel()
                }
            }
            self.dealtWithPiece(of: count)
        }
    }

    /// So many bytes more, or fewer, wait in the buffer of a sequence.
    func weigh(_ bytes: Int) {
        let source = lastTask
        let hold = streamState.write { state in
            if bytes > 0 { state.backlog.add(bytes) } else { state.backlog.remove(-bytes) }
            return state.balance(source)
        }
        perform(hold)
    }

    private func dealtWithPiece(of count: Int) {
        let (ready, hold) = streamState.write { state -> ([Job], Hold?) in
            state.outstanding -= 1
            state.backlog.remove(StreamBacklog.weight(of: count))
            let hold = state.balance()
            guard state.outstanding == 0 else { return ([], hold) }
            defer { state.completions = [] }
            return (state.completions, hold)
        }
        perform(hold)
        for completion in ready { completion.run() }
    }

    /// Tells a handler of the end, when all pieces have been dealt with (DS-6).
    private func complete<Success, Failure>(
        _ stream: @escaping Handler<Success, Failure>, on queue: DispatchQueue
    ) {
        let completion = Job {
            queue.async {
                let completion = Completion(
                    request: self.request, response: self.response, metrics: self.metrics, error: self.error)
                try? stream(Stream(event: .complete(completion), token: CancellationToken(self)))
            }
        }
        let isReady = streamState.write { state in
            if state.outstanding > 0 { state.completions.append(completion) }
            return state.outstanding == 0
        }
        if isReady { completion.run() }
    }
}

extension DataStreamRequest.Stream {
    /// The piece, when one has come.
    public var result: Result<Success, Failure>? {
        guard case .stream(let result) = event else { return nil }
        return result
    }

    /// The value of the piece, when there is one.
    public var value: Success? {
        guard case .success(let value) = result else { return nil }
        return value
    }

    /// Why the piece could not be made into a value, when it could not.
    public var error: Failure? {
        guard case .failure(let error) = result else { return nil }
        return error
    }

    /// How the stream ended, when it has.
    public var completion: DataStreamRequest.Completion? {
        guard case .complete(let completion) = event else { return nil }
        return completion
    }
}
