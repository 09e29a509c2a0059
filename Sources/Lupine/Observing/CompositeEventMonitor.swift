// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
public import LupineLoading

/// Forwards each event to several monitors, each on its own queue: the monitors of a session or of a request.
///
/// Only the library creates it. No monitor is called synchronously: the emitter may hold locks, and a monitor may call any method
/// of the request. A monitor on a serial queue receives all events in the order in which they were emitted; several monitors on
/// the same queue receive each event in the order of `monitors`. The `queue` of each monitor is read once, in the initializer.
///
/// Each request emits ten or more events. By default `AlamofireNotifications` is the only monitor, and it uses half of them. To
/// keep events cheap, they are values that wait in the queue's `EventMailbox`, and an event that no monitor uses is not created.
public final class CompositeEventMonitor: EventMonitor {
    /// The queue that was passed to the initializer. It delivers no events: each monitor receives them on its own queue.
    public let queue: DispatchQueue
    /// The monitors, in the order in which they receive an event.
    public let monitors: [any EventMonitor]
    /// The routes of events that have a notification, one per queue: they lead to all monitors.
    private let notificationEventRoutes: [EventRoute]
    /// The routes of all other events, one per queue: they lead to all monitors except `AlamofireNotifications`.
    private let otherEventRoutes: [EventRoute]

    /// - Parameters:
    ///   - queue: The value of `queue`.
    ///   - monitors: The monitors.
    ///   - session: The session whose event loops enqueue batched deliveries; nil for none.
    init(
        queue: DispatchQueue = DispatchQueue(label: "org.alamofire.compositeEventMonitor"),
        monitors: [any EventMonitor], session: URLSession? = nil
    ) {
        self.queue = queue
        self.monitors = monitors
        let listeners = monitors.map(EventListener.init)
        let mailboxes = listeners.map { EventMailbox.mailbox(of: $0.queue) }
        notificationEventRoutes = EventRoute.routes(
            to: listeners, mailboxes: mailboxes, session: session
        ) { _ in true }
        otherEventRoutes = EventRoute.routes(
            to: listeners, mailboxes: mailboxes, session: session
        ) { !$0.postsNotifications }
    }

    /// Whether each of the monitors is an `AlamofireNotifications`, which ignores events without a notification.
    var onlyPostsNotifications: Bool { otherEventRoutes.isEmpty }

    /// Forwards an event that has a notification. Evaluates `event` only if there is a monitor.
    private func forwardNotificationEvent(_ event: @autoclosure () -> MonitorEvent) {
        send(event, along: notificationEventRoutes)
    }

    /// Forwards an event that has a notification and that the caller has already created.
    func forward(notificationEvent event: MonitorEvent) { send({ event }, along: notificationEventRoutes) }

    /// Posts notifications about a request, if the monitors include an `AlamofireNotifications`.
    func forward(_ notifications: RequestNotifications, about request: Request) {
        for route in notificationEventRoutes { route.send(notifications, about: request) }
    }

    /// Posts notifications like `forward`, in one batch with those of other requests: see `EventRoute.sendBatched`.
    func forwardBatched(_ notifications: RequestNotifications, about request: Request) {
        for route in notificationEventRoutes { route.sendBatched(notifications, about: request) }
    }

    /// Enqueues the delivery of all waiting events, so that it precedes any block that is enqueued on the monitors' queues later.
    func scheduleDelivery() {
        // These routes lead to the mailboxes of all monitors, in which the events without a notification wait too.
        for route in notificationEventRoutes { route.scheduleDelivery() }
    }

    /// Forwards an event that has no notification. Evaluates `event` only if a monitor receives such events.
    private func forward(_ event: @autoclosure () -> MonitorEvent) {
        send(event, along: otherEventRoutes)
    }

    /// Creates the event and sends it along each of the routes. Does not create it if there are no routes.
    @inline(__always)
    private func send(_ event: () -> MonitorEvent, along routes: [EventRoute]) {
        if routes.isEmpty { return }
        // With one route, the usual case, the event is moved and not copied.
        if routes.count == 1 { return routes[0].send(event()) }
        let event = event()
        for route in routes { route.send(event) }
    }

    // MARK: the session

    /// Forwards the event.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        forward(.sessionBecameInvalid(session, error))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        forward(.taskReceivedChallenge(session, task, challenge))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        forward(.taskSentBodyData(session, task, bytesSent, totalBytesSent, totalBytesExpectedToSend))
    }

    /// Forwards the event.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        forward(.taskNeedsNewBodyStream(session, task))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        forward(.taskWillRedirect(session, task, response, request))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        forward(.taskCollectedMetrics(session, task, metrics))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
        forward(.taskEnded(session, task, error))
    }

    /// Forwards the event.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        forward(.taskIsWaitingForConnectivity(session, task))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) {
        forward(.dataTaskReceivedResponse(session, dataTask, response))
    }

    /// Forwards the event.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        forward(.dataTaskReceivedData(session, dataTask, data))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse
    ) {
        forward(.dataTaskWillCacheResponse(session, dataTask, proposedResponse))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        forward(.downloadTaskResumed(session, downloadTask, fileOffset, expectedTotalBytes))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
        forward(
            .downloadTaskWroteData(
                session, downloadTask, bytesWritten, totalBytesWritten, totalBytesExpectedToWrite))
    }

    /// Forwards the event.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        forward(.downloadTaskFinished(session, downloadTask, location))
    }

    // MARK: requests

    /// Forwards the event.
    public func requestDidResume(_ request: Request) {
        forwardNotificationEvent(.resumed(request))
    }

    /// Forwards the event.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        forward(.createdInitialURLRequest(request, urlRequest))
    }

    /// Forwards the event.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        forward(.failedToCreateURLRequest(request, error))
    }

    /// Forwards the event.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        forward(.adaptedInitialRequest(request, initialRequest, adaptedRequest))
    }

    /// Forwards the event.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        forward(.failedToAdaptURLRequest(request, initialRequest, error))
    }

    /// Forwards the event.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        forward(.createdURLRequest(request, urlRequest))
    }

    /// Forwards the event.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        forward(.createdTask(request, task))
    }

    /// Forwards the event.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        forwardNotificationEvent(.resumedTask(request, task))
    }

    /// Forwards the event.
    public func requestDidSuspend(_ request: Request) {
        forwardNotificationEvent(.suspended(request))
    }

    /// Forwards the event.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        forwardNotificationEvent(.suspendedTask(request, task))
    }

    /// Forwards the event.
    public func requestDidCancel(_ request: Request) {
        forwardNotificationEvent(.cancelled(request))
    }

    /// Forwards the event.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        forwardNotificationEvent(.cancelledTask(request, task))
    }

    /// Forwards the event.
    public func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        forward(.gatheredMetrics(request, metrics))
    }

    /// Forwards the event.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        forward(.failedTaskEarly(request, task, error))
    }

    /// Forwards the event.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        forwardNotificationEvent(.completedTask(request, task, error))
    }

    /// Forwards the event.
    public func requestIsRetrying(_ request: Request) {
        forward(.isRetrying(request))
    }

    /// Forwards the event.
    public func requestDidFinish(_ request: Request) {
        forwardNotificationEvent(.finished(request))
    }

    // MARK: data and uploads

    /// Forwards the event.
    public func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        data: Data?, withResult result: Request.ValidationResult
    ) {
        forward(.validatedData(request, urlRequest, response, data, result))
    }

    /// Forwards the event.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        forward(.parsedDataResponse(request, response))
    }

    /// Forwards the event.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        forward(.parsedValue { $0.request(request, didParseResponse: response) })
    }

    // MARK: streams

    /// Forwards the event.
    public func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        forward(.validatedStream(request, urlRequest, response, result))
    }

    /// Forwards the event.
    public func request<Value: Sendable>(
        _ request: DataStreamRequest, didParseStream result: Result<Value, AFError>
    ) {
        forward(.parsedValue { $0.request(request, didParseStream: result) })
    }

    // MARK: uploads

    /// Forwards the event.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        forward(.createdUploadable(request, uploadable))
    }

    /// Forwards the event.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        forward(.failedToCreateUploadable(request, error))
    }

    /// Forwards the event.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        forward(.providedInputStream(request, stream))
    }

    // MARK: downloads

    /// Forwards the event.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        forward(.createdDestination(request, url))
    }

    /// Forwards the event.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask,
        with result: Result<URL, AFError>
    ) {
        forward(.movedDownload(request, task, result))
    }

    /// Forwards the event.
    public func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        forward(.validatedDownload(request, urlRequest, response, fileURL, result))
    }

    /// Forwards the event.
    public func request(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>
    ) {
        forward(.parsedDownloadResponse(request, response))
    }

    /// Forwards the event.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        forward(.parsedValue { $0.request(request, didParseResponse: response) })
    }
}
