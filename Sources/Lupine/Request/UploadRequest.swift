// SPDX-License-Identifier: MIT

internal import Dispatch
public import Foundation
internal import LupineLoading

/// Creates the body of an upload.
public protocol UploadableConvertible: Sendable {
    /// Returns the body. Called for each attempt, after the request was adapted. A thrown error fails the attempt: an `AFError`
    /// is used unchanged, another error becomes `createUploadableFailed`.
    func createUploadable() throws -> UploadRequest.Uploadable
}

/// Creates the request of an upload and its body.
public protocol UploadConvertible: UploadableConvertible & URLRequestConvertible {}

/// A request that sends data, a file or a stream. The response content is collected in memory.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    /// The body of an upload.
    public enum Uploadable: @unchecked Sendable, UploadableConvertible {
        /// Data in memory.
        case data(Data)
        /// A file. If `shouldRemove` is true, the file is removed after the request has called its handlers.
        case file(URL, shouldRemove: Bool)
        /// A stream, which can be read once.
        case stream(InputStream)

        /// Returns the value itself.
        public func createUploadable() throws -> Uploadable { self }
    }

    /// The mutable state in addition to that of `DataRequest`.
    private struct UploadState {
        /// The body of the present attempt; nil until it has been created.
        var uploadable: Uploadable?
        /// Files that were written for attempts and have not been removed yet.
        var temporaryFiles: Set<URL> = []
    }

    /// The value that creates the body of each attempt.
    public let upload: any UploadableConvertible
    /// The file manager that removes files written for the upload.
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

    /// The body; nil until it has been created.
    public var uploadable: Uploadable? {
        get { uploadState.read { $0.uploadable } }
        set {
            // `swap` moves the old value out of the lock, where it is released: it may be a stream of the program.
            var new = newValue
            uploadState.write { state in
                if case .file(let url, shouldRemove: true) = new { state.temporaryFiles.insert(url) }
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
        // The delegate receives the response's content, because no consumer is named.
        task.collectContent()
        return task
    }

    /// Discards the body: the next attempt creates its own.
    override func reset() {
        super.reset()
        uploadable = nil
    }

    /// Removes the files written for the upload, then releases the other resources.
    public override func cleanup() {
        removeTemporaryFiles()
        super.cleanup()
    }

    private func removeTemporaryFiles() {
        let files = uploadState.write { state in
            defer { state.temporaryFiles = [] }
            return state.temporaryFiles
        }
        for file in files { try? fileManager.removeItem(at: file) }
    }

    // MARK: session callbacks, on the root queue

    func didCreateUploadable(_ uploadable: Uploadable) {
        self.uploadable = uploadable
        // A request that was cancelled meanwhile may have finished already. Then its `cleanup` ran before this file existed.
        if mutableState.read({ $0.machine.isOver }) { removeTemporaryFiles() }
        monitorsOfAllEvents?.request(self, didCreateUploadable: uploadable)
    }

    func didFailToCreateUploadable(with error: AFError) {
        failAttempt(with: error)
        monitorsOfAllEvents?.request(self, didFailToCreateUploadableWithError: error)
        preparationFailed(error)
    }

    /// Returns the stream that is the body, and reports it to the monitors. Returns nil for a body of another type.
    func inputStream() -> InputStream? {
        guard case .stream(let stream) = uploadable else { return nil }
        monitorsOfAllEvents?.request(self, didProvideInputStream: stream)
        return stream
    }
}
