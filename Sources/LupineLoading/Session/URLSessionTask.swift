// SPDX-License-Identifier: MIT

public import Foundation

/// Loads one request of the program, with the redirects and challenges that follow from it. The subclasses for streams and
/// WebSockets open a connection instead.
///
/// A task is created suspended; `resume()` starts it. May be used on any thread. No method calls the delegate or a completion
/// handler directly: the session calls them on its delegate queue. The class is open, so the compiler cannot verify that it is
/// `Sendable`. It is, because its only stored property, the core, is a constant.
open class URLSessionTask: NSObject, NSCopying, @unchecked Sendable {
    /// The state of a task.
    public enum State: Int, Sendable {
        /// The task loads, or waits to load.
        case running = 0
        /// The task was not resumed, or was suspended.
        case suspended = 1
        /// The task was cancelled, and has not completed yet.
        case canceling = 2
        /// The task has completed, with or without an error.
        case completed = 3
    }

    /// A priority lower than the default.
    public static let lowPriority: Float = 0.25
    /// The priority of a task whose priority the program does not set.
    public static let defaultPriority: Float = 0.5
    /// A priority higher than the default.
    public static let highPriority: Float = 0.75

    /// The implementation of the task.
    let core: TaskCore

    /// Creates a task without a session, which does nothing. The methods of `URLSession` create tasks that load.
    public override init() {
        core = TaskCore.withoutSession()
        super.init()
    }

    init(_ core: TaskCore) {
        self.core = core
        super.init()
    }

    /// Whether the task was created in an invalidated session. Such a task completes as cancelled, without a call of the delegate
    /// (U-4.4).
    package var isUnadmitted: Bool { core.isUnadmitted }

    /// Returns the task itself (U-6.9): a task cannot be copied.
    open override func copy() -> Any { self }

    /// Returns the task itself: a task cannot be copied.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The number of the task in its session, starting at 1.
    open var taskIdentifier: Int { core.identifier }

    /// A description for the program's use.
    open var taskDescription: String? {
        get { core.taskDescription }
        set { core.taskDescription = newValue }
    }

    /// The request that the task was created for; nil if there was none.
    open var originalRequest: URLRequest? { core.originalRequest }

    /// The request that was sent last, for example after a redirect; the original request before one is sent.
    open var currentRequest: URLRequest? { core.currentRequest }

    /// The response; nil before it has arrived.
    open var response: URLResponse? { core.response }

    /// The error that the task failed with; nil while it runs and if it succeeded.
    open var error: (any Error)? { core.error }

    /// The state of the task.
    open var state: State { core.taskState }

    /// The delegate of this task, which is called instead of the session's delegate for the methods that it implements. It has to
    /// be set before the first `resume()`; later changes are ignored.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Whether the response is cached unchanged, without calling `urlSession(_:dataTask:willCacheResponse:completionHandler:)` of
    /// the session's delegate (U-12.6). The task reads this property when the response is complete.
    package final var storesWithoutAsking: Bool {
        get { core.storesWithoutAsking }
        set { core.storesWithoutAsking = newValue }
    }

    /// The credential with which the task answers challenges, instead of the credentials in the session's storage (U-11.4). With
    /// nil, the credentials in the storage are used. `Lupine` sets this before it resumes the task, and again when the program
    /// replaces the credential. May be used on any thread.
    package final var ownCredential: URLCredential? {
        get { core.credential }
        set { core.credential = newValue }
    }

    /// Makes the task load on behalf of a task of another session, the principal: with the cookies and credentials of the
    /// principal and its session. May be called on any thread, before the task is resumed.
    package final func loadOnBehalf(of principal: URLSessionTask) { core.loadOnBehalf(of: principal.core) }

    /// Returns whether the task's session evaluates servers as `session` does, and presents the same client certificate. Returns
    /// false once the task has finished. May be called on any thread.
    package final func hasSameTLSPolicy(as session: URLSession) -> Bool {
        core.session?.core.hasSameTLSPolicy(as: session.core) ?? false
    }

    /// Stores the cookies of a response that was not received from the network, if the task's session stores cookies (U-13.13).
    /// Has no effect once the task has finished. May be called on any thread.
    package final func storeCookies(of response: HTTPURLResponse, to request: URLRequest) {
        guard let settings = core.session?.core.context.settings else { return }
        HopAssembly.storeCookies(of: response, to: request, settings)
    }

    /// Whether the task has followed a redirect to an origin other than that of the original request. May be used on any thread.
    package final var hasLeftOrigin: Bool { core.hasLeftOrigin }

    /// The options of the task's session; the defaults once the task has finished.
    package final var sessionOptions: URLSessionConfiguration.LupineOptions {
        core.session?.configuration.lupine ?? URLSessionConfiguration.LupineOptions()
    }

    /// Starts or continues a suspended task. Has no effect on a cancelled or completed task.
    open func resume() { core.resume() }

    /// Suspends the task: it sends and receives nothing until `resume()` is called. One call of `resume()` is enough after
    /// several calls of `suspend()`. Has no effect on a task that was not resumed, was cancelled, or has completed.
    open func suspend() { core.suspend() }

    /// Ends the task with `URLError.cancelled`. Returns at once; the completion follows on the delegate queue. Has no effect on a
    /// completed task.
    open func cancel() { core.cancel() }

    /// Stops the delivery of content, and of all callbacks after it including the completion (true), or continues it (false).
    ///
    /// While content is held, the load stops reading at the next piece; then the server has to wait. A cancelled task ends even
    /// while its content is held.
    ///
    /// May be called on any thread. The caller numbers its decisions, from 1. A call has no effect after one with a greater
    /// number, so that threads need not call in the order in which they have decided.
    package func holdContent(_ isHeld: Bool, decision number: Int) {
        core.holdContent(isHeld, decision: number)
    }

    /// Declares that the delegate only collects the content, so that the task delivers it in large pieces instead of in the
    /// server's chunks. Must be called before the task is resumed.
    ///
    /// - Parameters:
    ///   - consumer: Receives the content and the completion instead of the delegate; retained until the task has ended. Nil to
    ///     deliver content and completion to the delegate.
    ///   - limit: The maximum length of the content; longer content fails the task.
    package final func collectContent(
        for consumer: (any TaskConsumer)? = nil, upTo limit: CollectedBodyLimit = .standard
    ) {
        core.collectContent(for: consumer, upTo: limit)
    }

    /// The consumer of the task's content; nil without one, and once the task has completed. May be used on any thread.
    package final var consumer: (any TaskConsumer)? { core.consumer }

    /// Makes the task prefer connections of the event loop that runs the program's Swift task. Must be called before the task is
    /// resumed.
    package func prefer(_ preference: LoopPreference) { core.prefer(preference) }

    /// The priority among the tasks that wait for a connection, from 0 to 1; other values are limited to that range. Over HTTP/2
    /// it also decides which task's content is sent first, and which urgency the request asks for its response (RFC 9218).
    open var priority: Float {
        get { core.priority }
        set { core.priority = newValue }
    }

    /// The progress of the task, which counts sent and received bytes together. Cancelling the progress cancels the task.
    open var progress: Progress { core.progress }

    /// The number of bytes of content that were received, counted after decoding.
    open var countOfBytesReceived: Int64 { core.counts.received }

    /// The number of bytes of the body that were sent.
    open var countOfBytesSent: Int64 { core.counts.sent }

    /// The number of bytes of content that are expected; -1 if it is not known.
    open var countOfBytesExpectedToReceive: Int64 { core.counts.expectedToReceive }

    /// The length of the body; -1 if it is not known, 0 without a body.
    open var countOfBytesExpectedToSend: Int64 { core.counts.expectedToSend }

    /// A hint that has no effect.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { core.hints.countOfBytesToReceive }
        set { core.hints.countOfBytesToReceive = newValue }
    }

    /// A hint that has no effect.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { core.hints.countOfBytesToSend }
        set { core.hints.countOfBytesToSend = newValue }
    }

    /// A hint that has no effect: tasks begin when they are resumed.
    open var earliestBeginDate: Date? {
        get { core.hints.earliestBeginDate }
        set { core.hints.earliestBeginDate = newValue }
    }

    /// A hint that has no effect: content is always delivered as it arrives.
    open var prefersIncrementalDelivery: Bool {
        get { core.hints.prefersIncrementalDelivery }
        set { core.hints.prefersIncrementalDelivery = newValue }
    }

    /// The number and the state of the task.
    open override var description: String { "<\(type(of: self)) \(taskIdentifier), \(state)>" }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// An unknown number of bytes.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
