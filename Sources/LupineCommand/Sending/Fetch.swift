// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Loads one URL: sends the request, retries it, and prints or saves the content.
///
/// The library calls `allowRedirect` and `directFile` on the session's root queue, and the other callbacks on `queue`, which is
/// serial. A lock guards the state.
final class Fetch: Sendable {
    /// The decision about a response, made when its head arrives.
    enum Verdict {
        /// No head has arrived yet.
        case undecided
        /// The content is received, and printed or saved.
        case accepted
        /// The response is dropped, and another attempt starts after this number of seconds.
        case retry(Double)
        /// The response, or the part of it that has not arrived yet, is dropped, and the fetch fails.
        case refused(CommandFailure)
        /// The response is dropped: the file to resume is already complete.
        case complete
        /// A 304: the server has no newer version than the file, which may be partial.
        case unchanged
    }

    /// The bytes of a resumed download that are still missing, as the response head announced them.
    struct Remainder {
        let count: Int64
        /// Whether the message framing ends the content after `count` bytes, so that no more can arrive.
        let isFramed: Bool
    }

    /// The state that `state` guards with its lock.
    struct State {
        var verdict = Verdict.undecided
        /// Prints the content; nil until a response is accepted, and if the content is saved.
        var presenter: BodyPresenter?
        /// Saves the content; nil until a response is accepted, and if the content is printed.
        var saver: FileSaver?
        /// The result so far.
        var report: FetchReport
        /// The number of this fetch's row on the progress board.
        var rowNumber: Int?
        /// The stream of the current attempt.
        var stream: DataStreamRequest?
        /// Whether the transport writes this attempt's content into the file, without passing it to `receive`.
        var isSavedDirectly = false
        /// The bytes that must follow the partial file; nil unless a download is resumed.
        var remainder: Remainder?
        /// The redirects that this attempt may follow.
        var redirects: RedirectAllowance
        /// The retries that are allowed.
        var schedule: RetrySchedule
        /// The time at which the first attempt started.
        var startTime = ContinuousClock.now

        /// Returns the seconds to wait before another attempt; nil if that attempt would start after the limit of
        /// `--retry-max-time`.
        ///
        /// - Parameter retryAfter: The seconds of the response's `Retry-After`, if it has any.
        func retryDelay(retryAfter: Double?) -> Double? {
            schedule.retryDelay(
                retryAfter: retryAfter, elapsed: (ContinuousClock.now - startTime) / .seconds(1))
        }
    }

    let plan: RequestPlan
    let invocation: Invocation
    let context: ProcessContext
    let session: Session
    let output: OutputPlan
    /// The file that the content is saved to; nil if the content is printed.
    let destination: Invocation.Destination?
    /// Shows the progress; nil if the options do not ask for it.
    let board: ProgressBoard?
    /// The files that the URLs of this command line are saved to.
    let files: SavedFiles
    /// The index of this URL on the command line.
    let urlIndex: Int
    let reporter: FetchReporter
    /// Reports the heads that are sent and received to `reporter`, which prints them; nil if the options do not ask for them.
    let wireReporter: WireReporter?
    let state: Guarded<State>
    let resumption: Resumption
    /// The length of the partial file of a resumed download; 0 if the download is not resumed.
    var offset: Int64 { resumption.offset }
    private let queue = DispatchQueue(label: "lupine.fetch")

    init(
        _ plan: RequestPlan, _ invocation: Invocation, _ context: ProcessContext, session: Session,
        wire wireReporter: WireReporter?, output: OutputPlan, destination: Invocation.Destination?,
        board: ProgressBoard?, files: SavedFiles, urlIndex: Int
    ) {
        self.invocation = invocation
        self.context = context
        self.session = session
        self.wireReporter = wireReporter
        self.output = output
        self.destination = destination
        self.board = board
        self.files = files
        self.urlIndex = urlIndex
        resumption = Resumption(plan, invocation, context, destination)
        self.plan = plan.adding(resumption.fields)
        reporter = FetchReporter(
            invocation: invocation, context: context, output: output, request: plan.request)
        var state = State(
            report: FetchReport(plan: plan), redirects: RedirectAllowance(invocation),
            schedule: RetrySchedule(invocation))
        // The board's rows are in the order of the URLs, in whatever order these are loaded.
        state.rowNumber = board?.add(Self.rowName(plan, invocation, destination))
        self.state = Guarded(state)
    }

    /// Loads the URL and returns the result.
    func run() async -> FetchReport {
        if let failure = resumption.failure { return finish(failure) }
        state.withLock { $0.startTime = .now }
        while true {
            state.withLock { state in
                state.verdict = .undecided
                state.redirects = RedirectAllowance(invocation)
            }
            let completion = await attempt()
            let (verdict, report, schedule) = state.withLock { state in
                if let metrics = completion.metrics { state.report.metrics.append(metrics) }
                if let response = completion.response { state.report.response = response }
                state.report.redirectCount = state.redirects.followedCount
                return (state.verdict, state.report, state.schedule)
            }
            let failure = failure(of: completion, verdict)
            // The seconds until the next attempt; nil if this attempt was the last.
            var nextDelay: Double?
            if case .retry(let delay) = verdict {
                nextDelay = delay
            } else if let failure, report.receivedByteCount == 0, schedule.allowsRetry(after: failure),
                canSendBodyAgain || !Self.hasSentRequest(completion)
            {
                // nil: only a response with the verdict `retry` may prolong the delay by its `Retry-After`.
                nextDelay = state.withLock { $0.retryDelay(retryAfter: nil) }
            }
            guard let nextDelay, !context.interruption.hasOccurred else { return finish(failure) }
            state.withLock { $0.schedule.advance() }
            // `schedule` is a copy from before `advance`, and still counts this retry.
            reporter.printRetry(
                after: nextDelay, of: failure, completion.response,
                retriesLeft: schedule.retriesLeft - 1)
            await context.interruption.wait(atMostSeconds: nextDelay)
            if context.interruption.hasOccurred { return finish(interruptedFailure) }
        }
    }

    /// Whether the body can be sent again. A file on the standard input can be read again from its start, a pipe or a terminal
    /// only once.
    var canSendBodyAgain: Bool {
        if case .standardInput = plan.body { return context.input.kind == .file }
        return true
    }

    /// Whether the attempt began to send the request, and so may have read the body. Without metrics this
    /// is unknown, and the result is true.
    private static func hasSentRequest(_ completion: DataStreamRequest.Completion) -> Bool {
        completion.metrics?.transactionMetrics.contains { $0.requestStartDate != nil } ?? true
    }

    /// Returns the name that the board shows for this fetch.
    private static func rowName(
        _ plan: RequestPlan, _ invocation: Invocation, _ destination: Invocation.Destination?
    ) -> String {
        switch destination {
        case .file(let name): name.split(separator: "/").last.map(String.init) ?? name
        case .remoteName: RemoteName.name(of: plan.url)
        case nil:
            invocation.uploadFile.flatMap { $0.split(separator: "/").last.map(String.init) } ?? plan.url.host
                ?? "?"
        }
    }

    // MARK: one attempt

    /// Sends the request once, and returns when its stream has completed.
    private func attempt() async -> DataStreamRequest.Completion {
        // An error that `receive` throws cancels the request.
        let stream = session.streamRequest(plan.request, automaticallyCancelOnStreamError: true)
        if let credentials = plan.credentials, plan.usesDigest {
            stream.authenticate(
                with: URLCredential(
                    user: credentials.user, password: credentials.password, persistence: .none))
        }
        stream.redirect(using: FetchRedirectHandler(self))
        if !plan.body.isNone {
            stream.uploadProgress(queue: queue) { progress in
                self.updateUploadProgress(progress.completedUnitCount, of: progress.totalUnitCount)
            }
        }
        if let wireReporter {
            stream.onURLSessionTaskCreation(on: queue) { [session, reporter] task in
                wireReporter.assign(task.taskIdentifier, of: session, to: reporter)
            }
        }
        // A long file is not part of `plan.request`: it is read while it is sent.
        if let file = plan.bodyFile { stream.sendContent(of: file) }
        state.withLock { $0.stream = stream }
        defer { release(stream) }
        // The library calls the closure after `receiveHead` has accepted the response. With nil, `receive` gets the content.
        stream.saveContent { _ in self.directFile() }
        // After an interruption, the stream completes with an error.
        let listenerNumber = context.interruption.addListener { stream.cancel() }
        defer { context.interruption.remove(listenerNumber) }
        let completion = await withCheckedContinuation { continuation in
            stream.onHTTPResponse(on: queue) { response, completionHandler in
                completionHandler(self.receiveHead(response) ? .allow : .cancel)
            }
            stream.responseStream(on: queue) { stream in
                switch stream.event {
                case .stream(.success(let data)): try self.receive(data)
                case .complete(let completion): continuation.resume(returning: completion)
                }
            }
        }
        if let wireReporter {
            // The removal takes effect on the observers' thread, after all events so far have been reported.
            if let task = stream.task { wireReporter.removeReporter(of: task.taskIdentifier, of: session) }
            await WireReporter.suspendUntilEventsAreReported(of: session)
        }
        addSavedBytes(stream.task?.countOfBytesReceived ?? 0)
        return completion
    }

    /// Releases the stream at the end of an attempt; until then the stream and its callbacks retain each other. The caller's
    /// reference prevents a deinit under the lock.
    private func release(_ stream: DataStreamRequest) { state.withLock { $0.stream = nil } }

    // MARK: redirects

    /// Returns whether a redirect is followed, and prints its head if the options ask for it. The library calls this method on
    /// the session's root queue.
    func allowRedirect(_ task: URLSessionTask, _ response: HTTPURLResponse, to request: URLRequest) -> Bool {
        let isAllowed = state.withLock { $0.redirects.allowRedirect(from: plan.url, to: request.url) }
        guard isAllowed else { return false }
        if let wireReporter {
            // The assignment at the task's creation may still wait in `queue`. A second one does no harm.
            wireReporter.assign(task.taskIdentifier, of: session, to: reporter)
            WireReporter.blockUntilEventsAreReported(of: session)
        }
        if output.showsRedirectHeads {
            state.withLock { try? printHead(response, &$0) }
        }
        return true
    }
}

/// Passes redirects to the fetch, which decides whether they are followed.
private struct FetchRedirectHandler: RedirectHandler {
    private let fetch: Fetch

    init(_ fetch: Fetch) { self.fetch = fetch }

    func task(
        _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
        completion: @escaping (URLRequest?) -> Void
    ) {
        completion(fetch.allowRedirect(task, response, to: request) ? request : nil)
    }
}
