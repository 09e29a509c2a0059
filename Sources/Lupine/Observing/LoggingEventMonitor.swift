// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// Writes a line for each event: `Session(eventMonitors: [LoggingEventMonitor()])`.
///
/// A line names the request by the first digits of its `id`, or the task by its number, and says what happened. Lines omit the
/// bodies of messages and the values that serializers return, and `LogRedaction` removes credentials, so that lines may be
/// stored. A monitor that belongs to a single request does not receive the events of the `URLSession`, so it does not log them.
public final class LoggingEventMonitor: EventMonitor {
    /// The queue on which lines are written.
    public let queue: DispatchQueue
    private let destination: @Sendable (_ line: String) -> Void

    /// Creates a monitor that writes to the standard error stream.
    ///
    /// - Parameter queue: The queue on which it writes; by default a new serial queue.
    public convenience init(queue: DispatchQueue = DispatchQueue(label: "org.alamofire.loggingEventMonitor"))
    {
        self.init(queue: queue) { line in
            FileHandle.standardError.write(Data("\(line)\n".utf8))
        }
    }

    /// Creates a monitor that passes each line, without a line terminator, to `destination`.
    ///
    /// - Parameters:
    ///   - queue: The queue on which `destination` is called; by default a new serial queue.
    ///   - destination: Receives the lines.
    public init(
        queue: DispatchQueue = DispatchQueue(label: "org.alamofire.loggingEventMonitor"),
        destination: @escaping @Sendable (_ line: String) -> Void
    ) {
        self.queue = queue
        self.destination = destination
    }

    /// Writes a line.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        log("session", "became invalid\(suffix(error))")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        log(
            task,
            "was asked: \(challenge.protectionSpace.authenticationMethod) by \(challenge.protectionSpace.host)"
        )
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        log(task, "sent \(bytesSent) bytes, \(progress(totalBytesSent, totalBytesExpectedToSend))")
    }

    /// Writes a line.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        log(task, "needs a body stream")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        log(task, "was redirected by \(text(response, session.configuration)) to \(text(request))")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        log(task, "took \(metrics.taskInterval.duration) s")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        log(task, "ended\(suffix(error))")
    }

    /// Writes a line.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        log(task, "waits for a way to the network")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) {
        log(dataTask, "received the response \(text(response, session.configuration))")
    }

    /// Writes a line.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log(dataTask, "received \(data.count) bytes")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) {
        let response = text(proposedResponse.response, session.configuration)
        log(dataTask, "may be cached: \(response)")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        log(downloadTask, "goes on at \(progress(fileOffset, expectedTotalBytes))")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        log(
            downloadTask,
            "wrote \(bytesWritten) bytes, \(progress(totalBytesWritten, totalBytesExpectedToWrite))")
    }

    /// Writes a line.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        log(downloadTask, "is in \(location.path)")
    }

    /// Writes a line.
    public func requestDidResume(_ request: Request) {
        log(request, "was resumed")
    }

    /// Writes a line.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        log(request, "was converted: \(text(urlRequest))")
    }

    /// Writes a line.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        log(request, "could not be converted\(suffix(error))")
    }

    /// Writes a line.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        log(request, "was adapted: \(text(adaptedRequest))")
    }

    /// Writes a line.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        log(request, "could not be adapted\(suffix(error))")
    }

    /// Writes a line.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        let fields = text(
            urlRequest.allHTTPHeaderFields ?? [:],
            redacting: Self.sensitiveNames(request.delegate?.sessionConfiguration))
        log(request, "is ready: \(text(urlRequest)) \(fields)")
    }

    /// Writes a line.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        log(request, "has task \(task.taskIdentifier)")
    }

    /// Writes a line.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        log(request, "resumed task \(task.taskIdentifier)")
    }

    /// Writes a line.
    public func requestDidSuspend(_ request: Request) {
        log(request, "was suspended")
    }

    /// Writes a line.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        log(request, "suspended task \(task.taskIdentifier)")
    }

    /// Writes a line.
    public func requestDidCancel(_ request: Request) {
        log(request, "was cancelled")
    }

    /// Writes a line.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        log(request, "cancelled task \(task.taskIdentifier)")
    }

    /// Writes a line.
    public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        log(request, "has metrics: \(metrics.taskInterval.duration) s")
    }

    /// Writes a line.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        log(request, "refuses the server\(suffix(error))")
    }

    /// Writes a line.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        log(request, "task \(task.taskIdentifier) is complete\(suffix(error))")
    }

    /// Writes a line.
    public func requestIsRetrying(_ request: Request) {
        log(request, "is tried again")
    }

    /// Writes a line.
    public func requestDidFinish(_ request: Request) {
        log(request, "has finished")
    }

    /// Writes a line.
    public func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult
    ) {
        let response = text(response, request.delegate?.sessionConfiguration)
        log(request, "was validated: \(response)\(suffix(result))")
    }

    /// Writes a line.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        log(request, "has its response\(suffix(response.result))")
    }

    /// Writes a line.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        log(request, "has its response as \(Value.self)\(suffix(response.result))")
    }

    /// Writes a line.
    public func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        let response = text(response, request.delegate?.sessionConfiguration)
        log(request, "was validated: \(response)\(suffix(result))")
    }

    /// Writes a line.
    public func request<Value: Sendable>(
        _ request: DataStreamRequest, didParseStream result: Result<Value, AFError>
    ) {
        log(request, "has a piece as \(Value.self)\(suffix(result))")
    }

    /// Writes a line.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        log(request, "uploads \(text(uploadable))")
    }

    /// Writes a line.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        log(request, "has nothing to upload\(suffix(error))")
    }

    /// Writes a line.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        log(request, "handed over its body stream")
    }

    /// Writes a line.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        log(request, "goes to \(url.path)")
    }

    /// Writes a line.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) {
        log(request, "was moved\(suffix(result))")
    }

    /// Writes a line.
    public func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        let response = text(response, request.delegate?.sessionConfiguration)
        log(request, "was validated: \(response)\(suffix(result))")
    }

    /// Writes a line.
    public func request(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>
    ) {
        log(request, "has its file\(suffix(response.result))")
    }

    /// Writes a line.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        log(request, "has its file as \(Value.self)\(suffix(response.result))")
    }
}

/// The formatting of lines.
extension LoggingEventMonitor {
    /// Writes a line about a request.
    private func log(_ request: Request, _ event: String) {
        log("request \(request.id.uuidString.prefix(8))", event)
    }

    /// Writes a line about a task.
    private func log(_ task: URLSessionTask, _ event: String) { log("task \(task.taskIdentifier)", event) }

    private func log(_ subject: String, _ event: String) {
        // Removes credentials from URLs, and escapes line ends, so that a server's text cannot forge lines.
        destination(LogRedaction.line("\(subject) \(event)"))
    }

    /// Returns the method and the URL.
    private func text(_ request: URLRequest) -> String {
        "\(request.httpMethod ?? "GET") \(request.url?.absoluteString ?? "nowhere")"
    }

    /// The lowercased names of the fields that the program has declared sensitive.
    private static func sensitiveNames(_ configuration: URLSessionConfiguration?) -> Set<String> {
        Set((configuration?.lupine.sensitiveFields ?? []).map { $0.lowercased() })
    }

    /// Returns the status code and the header fields, with the values of sensitive fields redacted.
    private func text(_ response: URLResponse, _ configuration: URLSessionConfiguration?) -> String {
        guard let response = response as? HTTPURLResponse else {
            return response.mimeType ?? "without a type"
        }
        let pairs = response.allHeaderFields.compactMap { name, value in
            (name as? String).map { ($0, "\(value)") }
        }
        // The names are unique, because they are keys of a dictionary. The closure, which would resolve conflicts, is not called.
        let fields = Dictionary(pairs) { first, _ in first }
        return "\(response.statusCode) \(text(fields, redacting: Self.sensitiveNames(configuration)))"
    }

    /// Returns the header fields sorted by name, with the values of sensitive fields redacted: those that the library knows to
    /// be credentials, and those in `sensitiveNames`.
    private func text(_ fields: [String: String], redacting sensitiveNames: Set<String>) -> String {
        let list = fields.sorted { $0.key < $1.key }
            .map { "\($0.key): \(LogRedaction.value($0.value, ofField: $0.key, or: sensitiveNames))" }
        return "[\(list.joined(separator: ", "))]"
    }

    private func text(_ uploadable: UploadRequest.Uploadable) -> String {
        switch uploadable {
        case .data(let data): "\(data.count) bytes"
        case .file(let url, _): "the file \(url.path)"
        case .stream: "a stream"
        }
    }

    /// Returns the number of bytes, followed by the total unless that is unknown (negative).
    private func progress(_ completed: Int64, _ total: Int64) -> String {
        total < 0 ? "\(completed)" : "\(completed) of \(total)"
    }

    /// Returns the end of a line about an error; empty for nil.
    private func suffix(_ error: (any Error)?) -> String {
        error.map { ": \($0.localizedDescription)" } ?? ""
    }

    /// Returns the end of a line about a result, without its value.
    private func suffix<Value, Failure: Error>(_ result: Result<Value, Failure>) -> String {
        switch result {
        case .success: ", success"
        case .failure(let error): ", failure\(suffix(error))"
        }
    }
}
