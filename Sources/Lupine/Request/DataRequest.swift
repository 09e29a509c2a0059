// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request whose response content is collected in memory, up to `configuration.lupine.collectedBodyLimit` bytes. Longer content
/// fails the request with `URLError.dataLengthExceedsMaximum`.
public class DataRequest: Request, @unchecked Sendable {
    /// The mutable state in addition to that of `Request`.
    private struct DataState {
        /// The content received so far; nil until the first byte.
        var data: Data?
        /// Whether the content has exceeded the limit. The data that exceeds it and all later data is dropped.
        var isTooLong = false
        var httpResponseHandler: HTTPResponseHandler?
    }

    /// The value that each attempt converts to a `URLRequest`.
    public let convertible: any URLRequestConvertible
    /// Whether the convertible contains no objects of the program and calls none of the program's code.
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
        // If the attempt may need no code of the program, the task's load passes the content directly to the request, otherwise
        // to the delegate. A load is the network work of one task.
        let mayAvoidProgramCode = mutableState.read { $0.mayAvoidProgramCode }
        task.collectContent(for: mayAvoidProgramCode ? self : nil, upTo: session.collectedBodyLimit)
        return task
    }

    override var storesWithoutAsking: Bool {
        mutableState.read { $0.cachedResponseHandler == nil }
            && dataState.read { $0.httpResponseHandler == nil }
    }

    // False for the subclass `UploadRequest`, which may remove a file at its end: that must not block an event loop.
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

    /// Called with each attempt's response. `completion` receives the decision about its content.
    func didReceive(
        _ response: HTTPURLResponse, of task: URLSessionTask, upTo limit: CollectedBodyLimit,
        completion: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // The response announces content that is too long.
        if limit.isExceeded(by: response, to: task.currentRequest) {
            dataState.write { $0.isTooLong = true }
            fail(task, exceeding: limit)
        }
        // Without a handler, the content is received.
        let handler = dataState.read { $0.httpResponseHandler }
        HTTPResponseHandler.ask(handler, about: response, for: self, completion: completion)
    }

    /// Called with each piece of the content.
    func didReceive(_ data: Data, of task: URLSessionTask, upTo limit: CollectedBodyLimit) {
        let (count, exceedsLimit) = appendContent(data, upTo: limit)
        if exceedsLimit { fail(task, exceeding: limit) }
        guard let count else { return }
        updateDownloadProgress(
            completed: Int64(count),
            total: task.response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown)
    }

    /// Appends a piece of the content to `data`.
    ///
    /// - Parameters:
    ///   - data: The piece.
    ///   - limit: The limit for the content.
    /// - Returns: The number of content bytes so far, or nil once the content is too long; and whether this piece is the first
    ///   that exceeds the limit.
    private func appendContent(
        _ data: Data, upTo limit: CollectedBodyLimit
    ) -> (count: Int?, exceedsLimit: Bool) {
        dataState.write { state in
            if state.isTooLong { return (nil, false) }
            // Subtracts from the limit, because the sum of the stored and the new count could overflow.
            guard state.data?.count ?? 0 <= limit.bytes - data.count else {
                state.isTooLong = true
                return (nil, true)
            }
            if state.data == nil { state.data = data } else { state.data?.append(data) }
            return (state.data?.count, false)
        }
    }

    /// Fails the request because its content is too long. Sets the error at once: a task that has already received all of the
    /// content completes without an error.
    private func fail(_ task: URLSessionTask, exceeding limit: CollectedBodyLimit) {
        if error == nil {
            let cause = limit.error(of: task.currentRequest?.url)
            didFailTask(task, earlyWithError: .sessionTaskFailed(error: cause))
        }
        task.fail(exceeding: limit)
    }

    /// Finishes the attempt of a task that reports to this request and not to the delegate. Called in a step. Has no effect once
    /// the session has been deallocated, because that finishes the request (S-30).
    private func taskDidEnd(_ failure: AFError?, metrics: URLSessionTaskMetrics) {
        // `lastTask` is read here and not in `end`: a task may end before the step that has created the task stores it.
        guard let task = lastTask, delegate != nil else { return }
        deliverPendingReports()
        didGatherMetrics(metrics)
        didCompleteTask(task, with: failure)
    }

    // MARK: the response before its content

    // The same as in `DataStreamRequest`: Alamofire declares these methods for data and stream requests.

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
        dataState.write { swap(&$0.httpResponseHandler, &newHandler) }
        mutableState.write { $0.hasHTTPResponseHandler = true }
        askBeforeStoring()
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

    // MARK: the serialized response

    /// Calls `completionHandler` on `queue` with the content, without serializing it.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        // There is no serializer, so the closure runs in a step of the request.
        pass.append(needsSerializationQueue: false) { _ in
            let result = AFResult<Data?>(value: self.data, error: self.error)
            let response = self.dataResponse(result, duration: 0)
            self.monitorsOfAllEvents?.request(self, didParseResponse: response)
            self.pass.complete { queue.async { completionHandler(response) } }
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

    /// Calls `completionHandler` with the serialized response, on `queue`. If `queue` is nil, because a Swift task awaits the
    /// response, calls it in a step instead.
    func appendResponse<Serializer: DataResponseSerializerProtocol>(
        on queue: DispatchQueue?, _ serializer: Serializer,
        _ completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        // A passthrough serializer only returns the data, which any thread may do.
        let needsQueue = (serializer as? DataResponseSerializer)?.isPassthrough != true
        pass.append(needsSerializationQueue: needsQueue, isAwaited: queue == nil) { isInStep in
            assertNoLockIsHeld()
            let (result, duration) = AFResult.timed {
                try serializer.serialize(
                    request: self.request, response: self.response, data: self.data, error: self.error)
            }
            self.pass.continueAfterSerializer(isInStep: isInStep) {
                self.serializerReturned(result, duration: duration, on: queue, completionHandler)
            }
        }
        return self
    }

    /// Called in a step with the result of a serializer. Asks the retriers if the serializer has failed.
    private func serializerReturned<Value>(
        _ result: AFResult<Value>, duration: TimeInterval, on queue: DispatchQueue?,
        _ completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) {
        let response = dataResponse(result, duration: duration)
        monitorsOfAllEvents?.request(self, didParseResponse: response)
        guard case .failure(let error) = result else {
            // Without a queue, `deliver` calls the handler in the step that ends the pass.
            return pass.complete { queue.deliver(response, to: completionHandler) }
        }
        // `replacement` is the error that a retrier has put in place of the serializer's, or nil.
        pass.retryOrComplete(dueTo: error) { replacement in
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

/// The methods that a task's load, which does the network work of the task, calls in place of the delegate's methods. The load
/// does so as long as the request calls no code of the program.
extension DataRequest: TaskConsumer {
    package var isOnlyListener: Bool { callsNoProgramCode }

    package func receive(_ data: Data, of total: Int64, upTo limit: CollectedBodyLimit) -> Bool {
        guard let count = appendContent(data, upTo: limit).count else {
            // Sets the error at once, as `didReceive` does for content that the delegate receives (DR-11).
            let error = AFError.sessionTaskFailed(error: limit.error(of: lastTask?.currentRequest?.url))
            mutableState.write { state in
                if state.error == nil { state.error = error }
            }
            // False makes the task fail, because its content is too long.
            return false
        }
        let change = mutableState.write {
            $0.downloadProgress.update(completed: Int64(count), total: total)
        }
        if let change { underlyingQueue.async { self.publish(change) } }
        return true
    }

    package func end(_ error: (any Error)?, _ metrics: URLSessionTaskMetrics) {
        let failure = error.map { $0.asAFError(or: .sessionTaskFailed(error: $0)) }
        // Retriers, which the request asks after a failure, and handlers are called on the root queue.
        let successNeedsRoot = mutableState.read { !$0.callsNoProgramCode || $0.serializerChain.hasHandlers }
        performStep(needsRoot: failure != nil || successNeedsRoot) {
            self.taskDidEnd(failure, metrics: metrics)
        }
    }
}
