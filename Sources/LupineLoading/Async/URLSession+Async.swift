// SPDX-License-Identifier: MIT

public import Foundation

/// The `async` methods. Each creates a task, and throws the error with which the task completes. When the calling Swift task is
/// cancelled, the method cancels its task and throws `URLError.cancelled` (U-4.7). The delegate that is passed to a method
/// becomes the delegate of its task.
extension URLSession {
    /// Loads all content into memory.
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await loadContent(TaskDefinition(kind: .data, request: request, body: .request), delegate)
    }

    /// Loads all content into memory.
    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Sends data and loads the response's content into memory.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await loadContent(
            TaskDefinition(kind: .upload, request: request, body: .data(bodyData)), delegate)
    }

    /// Sends a file and loads the response's content into memory.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await loadContent(
            TaskDefinition(kind: .upload, request: request, body: .file(fileURL)), delegate)
    }

    /// Runs a data or upload task, and returns its content and response.
    private func loadContent(
        _ definition: TaskDefinition, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let awaiter = TaskAwaiter<(Data, URLResponse)>()
        let sink = AsyncContentSink(limit: collectedBodyLimit, awaiter)
        let taskDelegate = delegate.map { DelegateSet($0) }
        let task: URLSessionTask
        if definition.kind == .upload {
            task = makeUploadTask(definition, sink, delegate: taskDelegate)
        } else {
            task = makeDataTask(definition, sink, delegate: taskDelegate)
        }
        return try await awaiter.value(of: task)
    }

    /// Loads content into a file, which the caller has to remove.
    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await loadFile(delegate) { makeDownloadTask(request, handler: $0, delegate: $1) }
    }

    /// Loads content into a file, which the caller has to remove.
    public func download(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }

    /// Resumes a download that another task began. The caller has to remove the file.
    public func download(
        resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await loadFile(delegate) { makeDownloadTask(resuming: resumeData, handler: $0, delegate: $1) }
    }

    /// Runs the download task that `makeTask` creates, and returns its file and response.
    private func loadFile(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ makeTask: (
            _ handler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void,
            _ delegate: DelegateSet?
        ) -> URLSessionDownloadTask
    ) async throws -> (URL, URLResponse) {
        let awaiter = TaskAwaiter<(URL, URLResponse)>()
        let task = makeTask(
            { awaiter.complete(Self.movedFile($0, $1, $2)) }, delegate.map { DelegateSet($0) })
        return try await awaiter.value(of: task)
    }

    /// Moves the downloaded file to a new name, because the task removes it when the handler returns. Returns the new location
    /// and the response, or the error of the task.
    private static func movedFile(
        _ file: URL?, _ response: URLResponse?, _ error: (any Error)?
    ) -> Result<(URL, URLResponse), any Error> {
        if let error { return .failure(error) }
        guard let file, let response else {
            return .failure(
                URLError.noResponse(response?.url))
        }
        let destination = file.deletingLastPathComponent()
            .appendingPathComponent("lupine-\(UUID().uuidString).download")
        do {
            try FileManager.default.moveItem(at: file, to: destination)
        } catch {
            return .failure(URLError.loading(.cannotMoveFile, url: response.url, underlying: error))
        }
        return .success((destination, response))
    }

    /// Loads content as a sequence of bytes, and returns when the response has arrived. The transfer pauses while many bytes are
    /// buffered.
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        let awaiter = TaskAwaiter<URLResponse>()
        let sink = ByteSink(awaiter)
        let task = makeDataTask(
            TaskDefinition(kind: .data, request: request, body: .request), sink,
            delegate: delegate.map { DelegateSet($0) })
        let response = try await awaiter.value(of: task)
        return (AsyncBytes(ByteSource(sink, task, lineLimit: collectedBodyLimit)), response)
    }

    /// Loads content as a sequence of bytes, and returns when the response has arrived. The transfer pauses while many bytes are
    /// buffered.
    public func bytes(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        try await bytes(for: URLRequest(url: url), delegate: delegate)
    }
}
