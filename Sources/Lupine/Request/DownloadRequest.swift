// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// A request whose content goes into a file.
public final class DownloadRequest: Request, @unchecked Sendable {
    /// What is done about the place that a download is moved to.
    public struct Options: OptionSet, Sendable {
        /// Folders on the way are made.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// A file that is there is removed.
        public static let removePreviousFile = Options(rawValue: 1 << 1)

        /// The options as bits.
        public let rawValue: Int

        /// Options of those bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Says where a finished download is moved to. Called on the root queue.
    public typealias Destination =
        @Sendable (
            _ temporaryURL: URL, _ response: HTTPURLResponse
        ) -> (destinationURL: URL, options: Options)

    /// What a download begins with.
    public enum Downloadable: Sendable {
        /// A request.
        case request(any URLRequestConvertible)
        /// What an earlier download left.
        case resumeData(Data)
    }

    /// What changes besides the state of any request.
    private struct DownloadState {
        var resumeData: Data?
        var fileURL: URL?
    }

    /// What the download begins with, on each attempt.
    public let downloadable: Downloadable
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

    /// A destination in a folder of the user's, under the name that the response suggests.
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

    /// What a later download can go on from: what cancelling produced, or what the transfer's failure left.
    public var resumeData: Data? { downloadState.read { $0.resumeData } ?? error?.downloadResumeData }

    /// Where the content is; nil until it has been moved there.
    public var fileURL: URL? { downloadState.read { $0.fileURL } }

    override var preparation: Preparation {
        switch downloadable {
        case .request(let convertible): .conversion(convertible, upload: nil)
        case .resumeData(let data): .resumption(self, data)
        }
    }

    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        session.downloadTask(with: request)
    }

    /// The task that goes on from where an earlier download ended. Called on the root queue.
    public func task(forResumeData data: Data, using session: URLSession) -> URLSessionTask {
        session.downloadTask(withResumeData: data)
    }

    /// The next attempt begins as the first did: what is left of this one is not gone on with.
    override func reset() {
        removePart()
        // Its name is our own and nobody's destination: once it is forgotten nobody would find it.
        if destination == nil, let file = fileURL { try? FileManager.default.removeItem(at: file) }
        super.reset()
        downloadState.write { $0 = DownloadState() }
    }

    /// What a failed transfer has left is offered, or nobody can find it: neither can whoever awaits the response.
    override func leaveSession() -> [Job] {
        if lastPart != resumeData { removePart() }
        return super.leaveSession()
    }

    /// What the latest task's failure lets be gone on with.
    private var lastPart: Data? {
        (task?.error as? URLError)?.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data
    }

    /// Removes the part that the latest task has left, unless it is the one that each attempt goes on with.
    private func removePart() {
        guard let part = lastPart.flatMap(ResumeData.init)?.file else { return }
        if case .resumeData(let data) = downloadable, ResumeData(data)?.file == part { return }
        try? FileManager.default.removeItem(atPath: part)
    }

    // MARK: ending it

    /// Cancels the download; what has come is given up.
    @discardableResult
    public override func cancel() -> Self { cancel(producingResumeData: false) }

    /// Cancels the download, and keeps what has come for a later one in `resumeData`, if that is wanted.
    @discardableResult
    public func cancel(producingResumeData shouldProduceResumeData: Bool) -> Self {
        if shouldProduceResumeData { return cancel(byProducingResumeData: { _ in }) }
        cancel(with: .explicitlyCancelled)
        return self
    }

    /// Cancels the download and gives what a later one can go on from, or nil if there is nothing; never before it
    /// returns, on no particular queue. Not called when the download was cancelled before or has finished.
    @preconcurrency
    @discardableResult
    public func cancel(
        byProducingResumeData completionHandler: @escaping @Sendable (_ data: Data?) -> Void
    ) -> Self {
        let action = cancel(with: .explicitlyCancelled, telling: false) { task in
            (task as? URLSessionDownloadTask)?.cancel { data in
                self.downloadState.write { $0.resumeData = data }
                // Before the end that the task is about to tell.
                self.step { self.didCancelTask(task) }
                assertNoLockIsHeld()
                completionHandler(data)
            }
        }
        if action == .arrive { underlyingQueue.async { completionHandler(nil) } }
        return self
    }

    // MARK: the end of the transfer, on the root queue

    /// Where the file is to go, and what is to be done about that place.
    func place(for temporaryURL: URL, _ response: URLResponse?) -> (url: URL, options: Options) {
        guard let destination, let response = response as? HTTPURLResponse else {
            let name = "Alamofire_\(temporaryURL.lastPathComponent)"
            return (temporaryURL.deletingLastPathComponent().appendingPathComponent(name), [])
        }
        assertNoLockIsHeld()
        let place = destination(temporaryURL, response)
        return (place.destinationURL, place.options)
    }

    func didFinishDownloading(using task: URLSessionTask, with result: AFResult<URL>) {
        monitors?.request(self, didFinishDownloadingUsing: task, with: result)
        switch result {
        case .success(let url): downloadState.write { $0.fileURL = url }
        case .failure(let error): self.error = error
        }
    }

    // MARK: the response

    /// Has `completionHandler` called on `queue` with the place of the file.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        appendSerializer(isForeign: false) { _ in
            let result = AFResult<URL?>(value: self.fileURL, error: self.error)
            let response = self.downloadResponse(result, duration: 0)
            self.monitors?.request(self, didParseResponse: response)
            self.serialized { queue.async { completionHandler(response) } }
        }
        return self
    }

    /// Has `completionHandler` called on `queue` with what `responseSerializer` makes of the file.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        appendResponse(on: queue, responseSerializer, completionHandler)
    }

    /// Has `completionHandler` called on `queue` with what `responseSerializer` makes of the file.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        appendResponse(on: queue, responseSerializer, completionHandler)
    }

    /// Has `completionHandler` called with what the serializer makes of the response: on `queue`, or in a block of the root
    /// queue's, without a block of its own, if that is nil.
    func appendResponse<Serializer: DownloadResponseSerializerProtocol>(
        on queue: DispatchQueue?, _ serializer: Serializer,
        _ completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        let limit = collectedBodyLimit
        appendSerializer(isForeign: true) { isInStep in
            assertNoLockIsHeld()
            let (result, duration) = AFResult.timed {
                try DownloadedContent.$limit.withValue(limit) {
                    try serializer.serializeDownload(
                        request: self.request, response: self.response, fileURL: self.fileURL,
                        error: self.error)
                }
            }
            self.inStep(isInStep) { self.serialized(result, duration, on: queue, completionHandler) }
        }
        return self
    }

    /// The serializer of a handler has run. On the root queue.
    private func serialized<Value>(
        _ result: AFResult<Value>, _ duration: TimeInterval, on queue: DispatchQueue?,
        _ completionHandler: @escaping @Sendable (AFDownloadResponse<Value>) -> Void
    ) {
        let response = downloadResponse(result, duration: duration)
        monitors?.request(self, didParseResponse: response)
        guard case .failure(let error) = result else {
            return serialized { queue.deliver(response, to: completionHandler) }
        }
        serialized(error) { replacement in
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
