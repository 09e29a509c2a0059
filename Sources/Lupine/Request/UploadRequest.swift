// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
internal import LupineLoading

/// Makes what an upload sends.
public protocol UploadableConvertible: Sendable {
    /// What is to be sent. Called for each attempt, after the request was adapted. What it throws fails the request: an
    /// `AFError` as it is, another error as `createUploadableFailed`.
    func createUploadable() throws -> UploadRequest.Uploadable
}

/// Makes an upload's request and what it sends.
public protocol UploadConvertible: UploadableConvertible & URLRequestConvertible {}

/// A request that sends data, a file or a stream. Its content is gathered in memory.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    /// What is sent.
    public enum Uploadable: @unchecked Sendable, UploadableConvertible {
        /// Data in memory.
        case data(Data)
        /// A file, and whether it is removed when the request has called its handlers.
        case file(URL, shouldRemove: Bool)
        /// A stream, which can be read once.
        case stream(InputStream)

        /// Itself.
        public func createUploadable() throws -> Uploadable { self }
    }

    /// What changes besides the state of any data request.
    private struct UploadState {
        var uploadable: Uploadable?
        /// Files that were written for attempts, and are still there.
        var files: Set<URL> = []
    }

    /// Makes what is sent.
    public let upload: any UploadableConvertible
    /// Removes the file that was written for the upload.
    public let fileManager: FileManager
    private let uploadState = Protected(UploadState())

    init(
        convertible: any UploadConvertible, underlyingQueue: DispatchQueue,
        serializationQueue: DispatchQueue, eventMonitor: CompositeEventMonitor?,
        interceptor: (any RequestInterceptor)?, fileManager: FileManager,
        shouldAutomaticallyResume: Bool?, delegate: any RequestDelegate
    ) {
        upload = convertible
        self.fileManager = fileManager
        super.init(
            convertible: convertible, underlyingQueue: underlyingQueue,
            serializationQueue: serializationQueue, eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: delegate)
    }

    /// What is sent; nil until it was made.
    public var uploadable: Uploadable? {
        get { uploadState.read { $0.uploadable } }
        set {
            // What stood there goes away outside of the lock: it may be a stream of the program's.
            var new = newValue
            uploadState.write { state in
                if case .file(let url, shouldRemove: true) = new { state.files.insert(url) }
                swap(&state.uploadable, &new)
            }
        }
    }

    override var preparation: Preparation { .conversion(convertible, upload: self) }

    override func task(for request: URLRequest, using session: URLSession) -> URLSessionTask {
        let task =
            switch uploadable {
            case .data(let data): session.uploadTask(with: request, from: data)
            case .file(let url, _): session.uploadTask(with: request, fromFile: url)
            case .stream: session.uploadTask(withStreamedRequest: request)
            case nil: preconditionFailure("an upload's task is made when it is known what is sent")
            }
        task.collectContent()
        return task
    }

    override func reset() {
        super.reset()
        uploadable = nil
    }

    /// Removes what was written for the upload, then lets go of everything.
    public override func cleanup() {
        removeFiles()
        super.cleanup()
    }

    /// Removes what was written for the upload: whoever awaits the response finds it gone.
    override func leaveSession() -> [Job] {
        removeFiles()
        return super.leaveSession()
    }

    private func removeFiles() {
        let files = uploadState.write { state in
            defer { state.files = [] }
            return state.files
        }
        for file in files { try? fileManager.removeItem(at: file) }
    }

    // MARK: what the session tells, on the root queue

    func didCreateUploadable(_ uploadable: Uploadable) {
        self.uploadable = uploadable
        // A request that was cancelled meanwhile may have come to its end already.
        if mutableState.read({ $0.machine.isOver }) { removeFiles() }
        monitors?.request(self, didCreateUploadable: uploadable)
    }

    func didFailToCreateUploadable(with error: AFError) {
        failAttempt(with: error)
        monitors?.request(self, didFailToCreateUploadableWithError: error)
        preparationFailed(error)
    }

    /// The stream of the body; nil when the upload has none.
    func inputStream() -> InputStream? {
        guard case .stream(let stream) = uploadable else { return nil }
        monitors?.request(self, didProvideInputStream: stream)
        return stream
    }
}
