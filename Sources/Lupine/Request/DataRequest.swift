// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request whose response content is collected in memory, up to `configuration.lupine.collectedBodyLimit` bytes. Longer content
/// fails the request with `URLError.dataLengthExceedsMaximum`.
public class DataRequest: Request, @unchecked Sendable {
    /// The mutable state in addition to that of `Request`.
    private struct DataState {
        var data: Data?
        /// Whether the content has exceeded the limit. Later data is dropped, because data before it is missing.
        var isTooLong = false
        var gate: ResponseGate?
    }

    /// The value that each attempt converts to a `URLRequest`.
    public let convertible: any URLRequestConvertible
    /// Whether the convertible holds no objects of the program and calls none of its code.
    private let isFreeOfProgramCode: Bool
    private let dataState = Protected(DataState())

    init(
        convertible: any URLRequestConvertible, underlyingQueue: DispatchQueue,
        serializationQueue: DispatchQueue, eventMonitor: CompositeEventMonitor?,
        interceptor: (any RequestInterceptor)?, shouldAutomaticallyResume: Bool?,
        delegate: any RequestDelegate
    ) {
        self.convertible = convertible
        isFreeOfProgramCode = Session.isFreeOfProgramCode(convertible)
        super.init(
            underlyingQueue: underlyingQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: delegate)
    }

    /// The content received so far; nil until the first byte.
    public var data: Data? { dataState.read { $0.data } }

    override var preparation: Preparation { .conversion(convertible, upload: nil) }

    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let task = session.dataTask(with: request)
        // The task's load passes the content directly to the request if that may avoid the program's code, otherwise to the
        // delegate.
        let mayAvoidProgramCode = mutableState.read { $0.mayAvoidProgramCode }
        task.collectContent(for: mayAvoidProgramCode ? self : nil, upTo: session.collectedBodyLimit)
        return task
    }

    override var storesWithoutAsking: Bool {
        mutableState.read { $0.cachedResponseHandler == nil } && dataState.read { $0.gate == nil }
    }

    // False for an upload, which may remove a file at its end: that must not block an event loop.
    override var mayReceiveOnAnyThread: Bool {
        isFreeOfProgramCode && type(of: self) == DataRequest.self
    }

    override func mayStartOnAnyThread(in session: Session) -> Bool {
        session.runsOnlyLibraryCode && mayReceiveOnAnyThread && !mutableState.read { $0.hasProgramCode }
    }

    override func reset() {
        super.reset()
        // The content is returned so that it is released outside of the lock.
        _ = dataState.write { state in
            state.isTooLong = false
            return state.data.take()
        }
    }

    // MARK: task callbacks, on the root queue

    func didReceive(
        _ response: HTTPURLResponse, of task: URLSessionTask, upTo limit: CollectedBodyLimit,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if limit.isExceeded(by: response, to: task.currentRequest) {
            dataState.write { $0.isTooLong = true }
            fail(task, limit)
        }
        ResponseGate.ask(dataState.read { $0.gate }, about: response, for: self, completion: completion)
    }

    func didReceive(_ data: Data, of task: URLSessionTask, upTo limit: CollectedBodyLimit) {
        let (count, exceedsLimit) = add(data, upTo: limit)
        if exceedsLimit { fail(task, limit) }
        guard let count else { return }
        updateDownloadProgress(
            completed: Int64(count),
            total: task.response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown)
    }

    /// Adds a piece of the content. Returns the number of bytes so far, or nil once the content is too long, and whether this
    /// piece is the one that exceeds the limit.
    private func add(_ data: Data, upTo limit: CollectedBodyLimit) -> (count: Int?, exceedsLimit: Bool) {
        dataState.write { state in
            if state.isTooLong { return (nil, false) }
            guard state.data?.count ?? 0 <= limit.bytes - data.count else {
                state.isTooLong = true
                return (nil, true)
            }
            if state.data == nil { state.data = data } else { state.data?.append(data) }
            return (state.data?.count, false)
        }
    }

    /// Fails the request because its content is too long. Sets the error at once, because the task may have received all of the
    /// content already and then completes without an error.
    private func fail(_ task: URLSessionTask, _ limit: CollectedBodyLimit) {
        if error == nil {
            let cause = limit.error(of: task.currentRequest?.url)
            didFailTask(task, earlyWithError: .sessionTaskFailed(error: cause))
        }
        task.fail(exceeding: limit)
    }

    /// Processes the end of a task whose only listener is this request. In a step. Has no effect once the session has been
    /// deallocated, because that has finished the request (S-30).
    private func taskEnded(_ failure: AFError?, _ metrics: URLSessionTaskMetrics) {
        // Read in this step and not in `end`: a task may end before the step that creates the task has stored it.
        guard let task = lastTask, delegate != nil else { return }
        deliverPendingReports()
        didGatherMetrics(metrics)
        didCompleteTask(task, with: failure)
    }

    // MARK: the response's head

    // The same as in `DataStreamRequest`: Alamofire declares these for both kinds of request.

    /// Calls `handler` on `queue` with each attempt's response. The handler decides whether the content is received; until it
    /// answers, no content is delivered.
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
        // Swapped, so that the replaced gate is released outside of the lock.
        var gate: ResponseGate? = ResponseGate(queue: queue, closure: handler)
        dataState.write { swap(&$0.gate, &gate) }
        mutableState.write { $0.hasGate = true }
        askBeforeStoring()
        return self
    }

    /// Calls `handler` on `queue` with each attempt's response, before its content.
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

    // MARK: the response

    /// Calls `completionHandler` on `queue` with the content, without serializing it.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        appendSerializer(needsSerializationQueue: false) { _ in
            let result = AFResult<Data?>(value: self.data, error: self.error)
            let response = self.dataResponse(result, duration: 0)
            self.monitors?.request(self, didParseResponse: response)
            self.completeSerializer { queue.async { completionHandler(response) } }
        }
        return self
    }

    /// Calls `completionHandler` on `queue` with the value that `responseSerializer` makes of the content.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        appendResponse(on: queue, responseSerializer, completionHandler)
    }

    /// Calls `completionHandler` on `queue` with the value that `responseSerializer` makes of the content.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        appendResponse(on: queue, responseSerializer, completionHandler)
    }

    /// Calls `completionHandler` with the serialized response: on `queue`; if that is nil, because a Swift task awaits the
    /// response, in a step.
    func appendResponse<Serializer: DataResponseSerializerProtocol>(
        on queue: DispatchQueue?, _ serializer: Serializer,
        _ completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        // A bare serializer only returns the data, which any thread may do.
        let needsQueue = (serializer as? DataResponseSerializer)?.isPassthrough != true
        appendSerializer(needsSerializationQueue: needsQueue, isAwaited: queue == nil) { isInStep in
            assertNoLockIsHeld()
            let (result, duration) = AFResult.timed {
                try serializer.serialize(
                    request: self.request, response: self.response, data: self.data, error: self.error)
            }
            self.continueAfterSerializer(isInStep) {
                self.serializerReturned(result, duration, on: queue, completionHandler)
            }
        }
        return self
    }

    /// Called in a step with the result of a serializer. Asks the retriers if the serializer has failed.
    private func serializerReturned<Value>(
        _ result: AFResult<Value>, _ duration: TimeInterval, on queue: DispatchQueue?,
        _ completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) {
        let response = dataResponse(result, duration: duration)
        monitors?.request(self, didParseResponse: response)
        guard case .failure(let error) = result else {
            return completeSerializer { queue.deliver(response, to: completionHandler) }
        }
        // A retrier may replace the error.
        retryOrCompleteSerializer(dueTo: error) { replacement in
            guard let replacement else { return queue.deliver(response, to: completionHandler) }
            let failed = self.dataResponse(AFResult<Value>.failure(replacement), duration: duration)
            queue.deliver(failed, to: completionHandler)
        }
    }

    private func dataResponse<Value>(
        _ result: AFResult<Value>, duration: TimeInterval
    ) -> AFDataResponse<Value> {
        AFDataResponse(
            request: request, response: response, data: data, metrics: metrics,
            serializationDuration: duration, result: result)
    }
}

/// The calls that a task's load makes instead of the delegate's methods, as long as no code of the program has to be called.
extension DataRequest: TaskConsumer {
    package var isOnlyListener: Bool { callsNoProgramCode }

    package func receive(_ data: Data, of total: Int64, upTo limit: CollectedBodyLimit) -> Bool {
        guard let count = add(data, upTo: limit).count else {
            // The error is set at once, as when the delegate receives the content (DR-11).
            let error = AFError.sessionTaskFailed(error: limit.error(of: lastTask?.currentRequest?.url))
            mutableState.write { state in
                if state.error == nil { state.error = error }
            }
            return false
        }
        if let change = mutableState.write({ $0.download.update(completed: Int64(count), total: total) }) {
            underlyingQueue.async { self.publish(change) }
        }
        return true
    }

    package func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        let failure = error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
        // Retriers, which are asked after a failure, and handlers are called on the root queue.
        let isOnlyAwaited = mutableState.read { $0.callsNoProgramCode && !$0.chain.hasHandlers }
        performStep(needsRoot: failure != nil || !isOnlyAwaited) { self.taskEnded(failure, metrics) }
    }
}
