// SPDX-License-Identifier: MIT

public import Foundation

/// One load of a session's.
///
/// A task begins suspended; `resume()` starts it. Any thread may call. None of its methods calls back before it returns;
/// callbacks come on the session's delegate queue. It can be subclassed, so the compiler cannot see that it is
/// `Sendable`: all it stores is one constant, the core.
open class URLSessionTask: NSObject, NSCopying, @unchecked Sendable {
    /// Where a task stands.
    public enum State: Int, Sendable {
        /// It loads, or waits for its turn.
        case running = 0
        /// It was not resumed, or was suspended.
        case suspended = 1
        /// It was cancelled, and has not completed yet.
        case canceling = 2
        /// It has completed, with or without an error.
        case completed = 3
    }

    /// A priority below the usual one.
    public static let lowPriority: Float = 0.25
    /// The priority that a task has unless it is given another.
    public static let defaultPriority: Float = 0.5
    /// A priority above the usual one.
    public static let highPriority: Float = 0.75

    let core: TaskCore

    /// A task of no session: it does nothing. Tasks are made by sessions.
    public override init() {
        core = TaskCore.ofNoSession()
        super.init()
    }

    init(_ core: TaskCore) {
        self.core = core
        super.init()
    }

    /// Whether the task was made in a session that was invalid already: then it completes silently (U-4.4).
    package var isOrphan: Bool { core.isOrphan }

    /// The task itself (U-6.9).
    open override func copy() -> Any { self }

    /// The task itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The number of the task in its session, from 1.
    open var taskIdentifier: Int { core.identifier }

    /// For the program's use.
    open var taskDescription: String? {
        get { core.taskDescription }
        set { core.taskDescription = newValue }
    }

    /// The request that the task was made for; nil where there was none.
    open var originalRequest: URLRequest? { core.originalRequest }

    /// The request of the latest hop.
    open var currentRequest: URLRequest? { core.currentRequest }

    /// The response, when it has come.
    open var response: URLResponse? { core.response }

    /// Why the task failed; nil while it runs and when it succeeded.
    open var error: (any Error)? { core.error }

    /// Where the task stands.
    open var state: State { core.taskState }

    /// Who is asked before the session's delegate. To be set before the first `resume()`; later settings are ignored.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { core.delegate }
        set { core.delegate = newValue }
    }

    /// Whether its answer is stored as it came, and the session's delegate is not asked (U-12.6). Counts when the answer is whole.
    package final var storesUnasked: Bool {
        get { core.storesUnasked }
        set { core.storesUnasked = newValue }
    }

    /// What the task answers challenges with, in the place of what the session knows (U-11.4). Handed over before the task is
    /// resumed, and again when another takes its place; nil for nothing. Any thread; calls nothing back.
    package final var ownCredential: URLCredential? {
        get { core.credential }
        set { core.credential = newValue }
    }

    /// Has the task load for one of another session, in whose name it speaks to servers: by the cookies, names and passwords of
    /// that one and of its session. To be called before the task is resumed. Any thread; calls nothing back.
    package final func load(for principal: URLSessionTask) { core.deputise(for: principal.core) }

    /// Whether the task's session holds servers to the same as another session, and is the same to them. Not once the task has
    /// finished. Any thread; calls nothing back.
    package final func isSecured(as session: URLSession) -> Bool {
        core.session?.core.isSecured(as: session.core) ?? false
    }

    /// Stores the cookies of a response that did not come over the network, if the task's session stores any (U-13.13). Not once
    /// the task has finished. Any thread; calls nothing back.
    package final func storeCookies(of response: HTTPURLResponse, to request: URLRequest) {
        guard let settings = core.session?.core.context.settings else { return }
        HopAssembly.storeCookies(of: response, to: request, settings)
    }

    /// Whether a redirect has led to another origin than the program named. Any thread; calls nothing back.
    package final var hasLeftOrigin: Bool { core.hasLeftOrigin }

    /// The options of the task's session; the usual ones when it has finished.
    package final var sessionOptions: URLSessionConfiguration.LupineOptions {
        core.session?.configuration.lupine ?? URLSessionConfiguration.LupineOptions()
    }

    /// Starts a suspended task, or lets it go on. Nothing happens once the task was cancelled or has completed.
    open func resume() { core.resume() }

    /// Holds the task: no bytes move until `resume()`. However often it is called, one `resume()` undoes it.
    open func suspend() { core.suspend() }

    /// Ends the task with `URLError.cancelled`. Returns at once; the completion follows on the delegate queue.
    open func cancel() { core.cancel() }

    /// Has content wait that has not been delivered, and what comes behind it, the completion too; or lets it go on. The load
    /// reads on until as much waits as may, so that a slow consumer slows the peer. A cancelled task ends all the same. Any
    /// thread; calls nothing back.
    package func holdContent(_ isHeld: Bool) { core.holdContent(isHeld) }

    /// The delegate only collects the content: how the server has cut it means nothing, and it comes in large pieces. To be
    /// called before the task is resumed.
    package func collectContent() { core.collectContent() }

    /// Has the task prefer connections of an event loop, where the program's Swift task runs. To be called before it is resumed.
    package func prefer(_ preference: LoopPreference) { core.prefer(preference) }

    /// Which of the tasks that wait for a connection goes first: 0...1. Over HTTP/2 also whose content is sent first, and how
    /// urgent the server is told that the response is (RFC 9218).
    open var priority: Float {
        get { core.priority }
        set { core.priority = newValue }
    }

    /// How far the task is, sent and received bytes together. Cancelling it cancels the task.
    open var progress: Progress { core.progress }

    /// How many bytes of content have come, decoded.
    open var countOfBytesReceived: Int64 { core.counts.received }

    /// How many bytes of the body have been sent.
    open var countOfBytesSent: Int64 { core.counts.sent }

    /// How many bytes of content will come; -1 when that is not known.
    open var countOfBytesExpectedToReceive: Int64 { core.counts.expectedToReceive }

    /// How many bytes the body has; -1 when that is not known, 0 without a body.
    open var countOfBytesExpectedToSend: Int64 { core.counts.expectedToSend }

    /// A hint of the program's; without effect.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { core.hints.countOfBytesToReceive }
        set { core.hints.countOfBytesToReceive = newValue }
    }

    /// A hint of the program's; without effect.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { core.hints.countOfBytesToSend }
        set { core.hints.countOfBytesToSend = newValue }
    }

    /// A hint of the program's; tasks on Linux begin when they are resumed.
    open var earliestBeginDate: Date? {
        get { core.hints.earliestBeginDate }
        set { core.hints.earliestBeginDate = newValue }
    }

    /// A hint of the program's; content is always delivered as it comes.
    open var prefersIncrementalDelivery: Bool {
        get { core.hints.prefersIncrementalDelivery }
        set { core.hints.prefersIncrementalDelivery = newValue }
    }

    /// The number of the task and where it stands.
    open override var description: String { "<\(type(of: self)) \(taskIdentifier), \(state)>" }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A number of bytes that is not known.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
