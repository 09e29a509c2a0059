// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request whose content is written to a file.
public final class DownloadRequest: Request, @unchecked Sendable {
    /// Options for moving a download to its destination.
    public struct Options: OptionSet, Sendable {
        /// Creates missing intermediate directories.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Removes a file that exists at the destination. Without this option such a file fails the request.
        public static let removePreviousFile = Options(rawValue: 1 << 1)

        /// The options as bits.
        public let rawValue: Int

        /// Creates options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Returns the destination of a finished download. Called on the root queue.
    public typealias Destination =
        @Sendable (
            _ temporaryURL: URL, _ response: HTTPURLResponse
        ) -> (destinationURL: URL, options: Options)

    /// The starting point of a download.
    public enum Downloadable: Sendable {
        /// A request.
        case request(any URLRequestConvertible)
        /// The resume data of an earlier download.
        case resumeData(Data)
    }

    /// The mutable state in addition to that of `Request`.
    private struct DownloadState {
        /// The resume data that a cancellation has produced.
        var resumeData: Data?
        /// The location of the file; nil until it has been moved there.
        var fileURL: URL?
    }

    /// The starting point of each attempt.
    public let downloadable: Downloadable
    /// Returns the URL to which the file is moved; nil leaves the file in its folder, under another name.
    let destination: Destination?
    private let downloadState = Protected(DownloadState())

    init(
        downloadable: Downloadable, underlyingQueue: DispatchQueue, serializationQueue: DispatchQueue,
        eventMonitor: CompositeEventMonitor?, interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?, delegate: any RequestDelegate, destination: Destination?
    ) {
        self.downloadable = downloadable
        self.destination = destination
        super.init(
            underlyingQueue: underlyingQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: delegate)
    }

    /// Returns a destination in one of the user's directories, with the file name that the response suggests. If there is no such
    /// directory or no suggested name, the file is not moved.
    public class func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask, options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            guard let folder = FileManager.default.urls(for: directory, in: domain).first,
                let name = response.suggestedFilename
            else { return (temporaryURL, options) }
            return (folder.appendingPathComponent(name), options)
        }
    }

    /// The data from which a later download can resume. `cancel(producingResumeData:)` produces it, and so does a failed
    /// transfer.
    public var resumeData: Data? { downloadState.read { $0.resumeData } ?? error?.downloadResumeData }

    /// The location of the file; nil until it has been moved there.
    public var fileURL: URL? { downloadState.read { $0.fileURL } }

    override var preparation: Preparation {
        switch downloadable {
        case .request(let convertible): .conversion(convertible, upload: nil)
        case .resumeData(let data): .resumption(self, resumeData: data)
        }
    }

    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        session.downloadTask(with: request)
    }

    /// Returns a task that resumes an earlier download. Called on the root queue.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        session.downloadTask(withResumeData: data)
    }

    /// Removes the files of this attempt. The next attempt starts as the first did.
    override func reset() {
        removePartialFile()
        // Without a destination the file has a generated name, which only `fileURL` stores. The last statement discards
        // `fileURL`.
        if destination == nil, let file = fileURL { try? FileManager.default.removeItem(at: file) }
        super.reset()
        downloadState.write { $0 = DownloadState() }
    }

    /// Removes the partial file of a failed transfer, unless `resumeData` refers to that file.
    override func cleanup() {
        if taskResumeData != resumeData { removePartialFile() }
        super.cleanup()
    }

    /// The resume data in the error of the latest task.
    private var taskResumeData: Data? {
        (task?.error as? URLError)?.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }

    /// Removes the partial file of the latest task, unless each attempt resumes from that file: then the next attempt needs it.
    private func removePartialFile() {
        guard let path = taskResumeData.flatMap(ResumeData.init)?.file else { return }
        if case .resumeData(let data) = downloadable, ResumeData(data)?.file == path { return }
        try? FileManager.default.removeItem(atPath: path)
    }

    // MARK: cancelling

    /// Cancels the download and discards what was received.
    @discardableResult
    public override func cancel() -> Self { cancel(producingResumeData: false) }

    /// Cancels the download. If `shouldProduceResumeData` is true, `resumeData` lets a later download resume.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        if shouldProduceResumeData { return cancel(byProducingResumeData: { _ in }) }
        control.cancel(with: .explicitlyCancelled)
        return self
    }

    /// Cancels the download and calls `completionHandler` with the data for resuming it, or nil if there is none. The handler is
    /// called asynchronously, on no particular queue, and not at all if the download was cancelled before or has finished.
    @preconcurrency
    @discardableResult
    public func cancel(
        byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void
    ) -> Self {
        let action = control.cancel(with: .explicitlyCancelled, reportingTask: false) { task in
            (task as? URLSessionDownloadTask)?.cancel { data in
                self.downloadState.write { $0.resumeData = data }
                // The task reports its end after this call, so the monitors receive the cancellation first.
                self.mutableState.write { $0.addReport { self.didCancelTask(task) } }
                self.deliverPendingReportsOnRoot()
                assertNoLockIsHeld()
                completionHandler(data)
            }
        }
        // There is no task that could produce resume data.
        if action == .cancelWithoutTask { underlyingQueue.async { completionHandler(nil) } }
        return self
    }

    // MARK: the end of the transfer, on the root queue

    /// Returns the URL to which the file is moved, and the options for moving it.
    ///
    /// Calls the program's `Destination`, if there is one and the response is an HTTP response. Otherwise the file gets another
    /// name in the same folder: the task would remove a file that stays at `temporaryURL`.
    func resolveDestination(
        for temporaryURL: URL, _ response: URLResponse?
    ) -> (url: URL, options: Options) {
        guard let destination, let response = response as? HTTPURLResponse else {
            let name = "Alamofire_\(temporaryURL.lastPathComponent)"
            return (temporaryURL.deletingLastPathComponent().appendingPathComponent(name), [])
        }
        assertNoLockIsHeld()
        let (url, options) = destination(temporaryURL, response)
        return (url, options)
    }

    /// Stores the location of the moved file, or the error.
    func didFinishDownloading(using task: URLSessionTask, with result: AFResult<URL>) {
        monitorsOfAllEvents?.request(self, didFinishDownloadingUsing: task, with: result)
        switch result {
        case .success(let url): downloadState.write { $0.fileURL = url }
        case .failure(let error): self.error = error
        }
    }

    // MARK: the serialized response

    /// Calls `completionHandler` on `queue` with the location of the file.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        // There is no serializer, so the closure runs in a step of the request.
        pass.append(needsSerializationQueue: false) { _ in
            let result = AFResult<URL?>(value: self.fileURL, error: self.error)
            let response = self.downloadResponse(result, duration: 0)
            self.monitorsOfAllEvents?.request(self, didParseResponse: response)
            self.pass.complete { queue.async { completionHandler(response) } }
        }
        return self
    }

    /// Calls `completionHandler` on `queue` with the value that `responseSerializer` makes of the file.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        appendResponse(on: queue, responseSerializer, completionHandler)
    }

    /// Calls `completionHandler` on `queue` with the value that `responseSerializer` makes of the file.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        appendResponse(on: queue, responseSerializer, completionHandler)
    }

    /// Calls `completionHandler` with the serialized response, on `queue`. If `queue` is nil, because a Swift task awaits the
    /// response, calls it in a step instead.
    func appendResponse<Serializer: DownloadResponseSerializerProtocol>(
        on queue: DispatchQueue?, _ serializer: Serializer,
        _ completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        let limit = collectedBodyLimit
        pass.append(needsSerializationQueue: true, isAwaited: queue == nil) { isInStep in
            assertNoLockIsHeld()
            let (result, duration) = AFResult.timed {
                // A task-local value, which the library's serializers read: `serializeDownload` has no parameter for the limit.
                try DownloadedContent.$limit.withValue(limit) {
                    try serializer.serializeDownload(
                        request: self.request, response: self.response, fileURL: self.fileURL,
                        error: self.error)
                }
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
        _ completionHandler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void
    ) {
        let response = downloadResponse(result, duration: duration)
        monitorsOfAllEvents?.request(self, didParseResponse: response)
        guard case .failure(let error) = result else {
            // Without a queue, `deliver` calls the handler in the step that ends the pass.
            return pass.complete { queue.deliver(response, to: completionHandler) }
        }
        // `replacement` is the error that a retrier has put in place of the serializer's, or nil.
        pass.retryOrComplete(dueTo: error) { replacement in
            guard let replacement else { return queue.deliver(response, to: completionHandler) }
            let failed = self.downloadResponse(AFResult<Value>.failure(replacement), duration: duration)
            queue.deliver(failed, to: completionHandler)
        }
    }

    private func downloadResponse<Value>(
        _ result: AFResult<Value>, duration: TimeInterval
    ) -> AFDownloadResponse<Value> {
        AFDownloadResponse(
            request: request, response: response, fileURL: fileURL, resumeData: resumeData, metrics: metrics,
            serializationDuration: duration, result: result)
    }
}
