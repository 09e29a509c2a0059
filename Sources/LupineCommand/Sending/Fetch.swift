// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Loads one URL: sends the request, retries it, and prints or saves the content.
///
/// The library calls `handleRedirect` and `directFile` on the session's root queue, and the other callbacks on `queue`, which is
/// serial. A lock guards the state.
final class Fetch: Sendable {
    /// The decision about a response, made when its head arrives.
    private enum Verdict {
        /// No head has arrived yet.
        case undecided
        /// The content is received, and printed or saved.
        case accepted
        /// The response is dropped, and another attempt starts after this number of seconds.
        case retry(Double)
        /// The response, or what is left of it, is dropped, and the fetch fails.
        case refused(CommandFailure)
        /// The response is dropped: the file to resume is already complete.
        case complete
        /// A 304: the server has no newer version than the file, which may be partial.
        case unchanged
    }

    /// The bytes of a resumed download that are still missing, as the response head announced them.
    private struct Remainder {
        let count: Int64
        /// Whether the message framing ends the content after `count` bytes, so that no more can arrive.
        let isFramed: Bool
    }

    private struct State {
        var verdict = Verdict.undecided
        var presenter: BodyPresenter?
        var saver: FileSaver?
        var report: FetchReport
        /// The index of this fetch's row on the progress board.
        var row: Int?
        /// The stream of the current attempt.
        var stream: DataStreamRequest?
        /// Whether the transport writes this attempt's content into the file, without passing it to `receive`.
        var isSavedDirectly = false
        /// The bytes that must follow the partial file; nil unless a download is resumed.
        var remainder: Remainder?
        var redirects: RedirectAllowance
        var schedule: RetrySchedule
        var start = ContinuousClock.now

        /// Returns the seconds to wait before another attempt; nil if it would start after the limit of `--retry-max-time`.
        ///
        /// - Parameter retryAfter: The seconds of the response's `Retry-After`, if it has any.
        func retryDelay(retryAfter: Double?) -> Double? {
            schedule.retryDelay(
                retryAfter: retryAfter, elapsed: (ContinuousClock.now - start) / .seconds(1))
        }
    }

    private let plan: RequestPlan
    private let invocation: Invocation
    private let context: ProcessContext
    private let session: Session
    private let output: OutputPlan
    private let destination: Invocation.Destination?
    private let board: ProgressBoard?
    /// The files that the URLs of this command line are saved to.
    private let files: SavedFiles
    /// The index of this URL on the command line.
    private let urlIndex: Int
    private let reporter: FetchReporter
    /// Prints the heads that are sent and received; nil if the options do not ask for them.
    private let wire: WireReporter?
    private let state: Guarded<State>
    private let resumption: Resumption
    /// The length of the partial file of a resumed download.
    private var offset: Int64 { resumption.offset }
    private let queue = DispatchQueue(label: "lupine.fetch")

    init(
        _ plan: RequestPlan, _ invocation: Invocation, _ context: ProcessContext, session: Session,
        wire: WireReporter?, output: OutputPlan, destination: Invocation.Destination?, board: ProgressBoard?,
        files: SavedFiles, urlIndex: Int
    ) {
        self.invocation = invocation
        self.context = context
        self.session = session
        self.wire = wire
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
        state.row = board?.add(Self.rowName(plan, invocation, destination))
        self.state = Guarded(state)
    }

    /// Loads the URL and returns the result.
    func run() async -> FetchReport {
        if let failure = resumption.failure { return finish(failure) }
        state.withLock { $0.start = .now }
        while true {
            state.withLock { state in
                state.verdict = .undecided
                state.redirects = RedirectAllowance(invocation)
            }
            let completion = await attempt()
            let (verdict, report, schedule) = state.withLock { state in
                if let metrics = completion.metrics { state.report.metrics.append(metrics) }
                if let response = completion.response { state.report.response = response }
                state.report.redirects = state.redirects.followed
                return (state.verdict, state.report, state.schedule)
            }
            let failure = failure(of: completion, verdict)
            var retryDelay: Double?
            if case .retry(let delay) = verdict {
                retryDelay = delay
            } else if let failure, report.received == 0, schedule.allowsRetry(after: failure),
                canSendBodyAgain || !Self.hasSentRequest(completion)
            {
                retryDelay = state.withLock { $0.retryDelay(retryAfter: nil) }
            }
            guard let retryDelay, !context.interruption.hasCome else { return finish(failure) }
            state.withLock { $0.schedule.advance() }
            reporter.printRetry(
                after: retryDelay, of: failure, completion.response,
                retriesLeft: schedule.retriesLeft - 1)
            await context.interruption.pause(retryDelay)
            if context.interruption.hasCome { return finish(interruptedFailure) }
        }
    }

    /// Whether the body can be sent again. A file on the standard input can be read again from its start, a pipe or a terminal
    /// only once.
    private var canSendBodyAgain: Bool {
        if case .standardInput = plan.body { return context.input.kind == .file }
        return true
    }

    /// Whether the attempt began to send the request, and so may have read the body.
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
            invocation.upload.flatMap { $0.split(separator: "/").last.map(String.init) } ?? plan.url.host
                ?? "?"
        }
    }

    // MARK: one attempt

    /// Sends the request once, and returns when its stream has completed.
    private func attempt() async -> DataStreamRequest.Completion {
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
        if let wire {
            stream.onURLSessionTaskCreation(on: queue) { [session, reporter] task in
                wire.assign(task.taskIdentifier, of: session, to: reporter)
            }
        }
        if let file = plan.bodyFile { stream.sendContent(of: file) }
        state.withLock { $0.stream = stream }
        defer { release(stream) }
        stream.saveContent { _ in self.directFile() }
        let listener = context.interruption.listen { stream.cancel() }
        defer { context.interruption.forget(listener) }
        let completion = await withCheckedContinuation { continuation in
            stream.onHTTPResponse(on: queue) { response, completionHandler in
                completionHandler(self.handleHead(response) ? .allow : .cancel)
            }
            stream.responseStream(on: queue) { stream in
                switch stream.event {
                case .stream(.success(let data)): try self.receive(data)
                case .complete(let completion): continuation.resume(returning: completion)
                }
            }
        }
        if let wire {
            if let task = stream.task { wire.removeReporter(of: task.taskIdentifier, of: session) }
            await WireReporter.suspendUntilEventsAreReported(of: session)
        }
        addSavedBytes(stream.task?.countOfBytesReceived ?? 0)
        return completion
    }

    /// Handles the head of a response. Returns whether its body is to be received.
    private func handleHead(_ response: HTTPURLResponse) -> Bool {
        if wire != nil { WireReporter.blockUntilEventsAreReported(of: session) }
        do {
            return try state.withLock { state in try setVerdict(on: response, &state) }
        } catch {
            let failure =
                error as? CommandFailure ?? CommandFailure(.write, "Cannot write to the standard output.")
            state.withLock { $0.verdict = .refused(failure) }
            return false
        }
    }

    /// Sets the verdict on a response, prints its head, and opens the destination of its content. Returns whether its body is to
    /// be received.
    private func setVerdict(on response: HTTPURLResponse, _ state: inout State) throws -> Bool {
        state.report.response = response
        if let failure = state.redirects.failure {
            state.verdict = .refused(failure)
            return false
        }
        let status = response.statusCode
        let isFailure = invocation.fails && status >= 400
        if canSendBodyAgain, state.schedule.allowsRetry(after: status, isFailure: isFailure),
            let delay = state.retryDelay(retryAfter: RetrySchedule.retryAfter(response))
        {
            state.verdict = .retry(delay)
            return false
        }
        if isFailure, !invocation.failsWithBody {
            try printHead(response, &state)
            state.verdict = .refused(statusFailure(response))
            return false
        }
        if status == 304, invocation.timeCondition != nil || invocation.etagToCompare != nil {
            try printHead(response, &state)
            state.verdict = .unchanged
            return false
        }
        if let limit = invocation.maximumFileSize,
            let length = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int64($0) }),
            length > limit
        {
            state.verdict = .refused(Self.tooLargeFailure(plan.url, limit))
            return false
        }
        if offset > 0 {
            switch resumption.verdict(on: response, decodes: !invocation.keepsEncoding) {
            case .resume(let count, let isFramed):
                state.remainder = Remainder(count: count, isFramed: isFramed)
            case .complete:
                state.verdict = .complete
                return false
            case .refuse(let failure):
                state.verdict = .refused(failure)
                return false
            }
        }
        state.verdict = .accepted
        try openDestination(for: response, &state)
        try printHead(response, &state)
        return true
    }

    /// Saves the ETag in the file of --etag-save, once the content is complete.
    private func saveETag(_ response: HTTPURLResponse) throws {
        guard let file = invocation.etagFile, let tag = response.value(forHTTPHeaderField: "ETag") else {
            return
        }
        do { try Data("\(tag)\n".utf8).write(to: URL(fileURLWithPath: context.path(file))) } catch {
            throw CommandFailure.unwritable(file, error)
        }
    }

    /// Returns the failure for content that is longer than the limit of --max-filesize.
    private static func tooLargeFailure(_ url: URL, _ limit: Int64) -> CommandFailure {
        CommandFailure(
            .tooLarge,
            "Will not load \(ShownAddress.text(url)): it has more than the \(limit) bytes that --max-filesize allows."
        )
    }

    /// Returns the failure that `--fail` makes of a status from 400 on.
    private func statusFailure(_ response: HTTPURLResponse) -> CommandFailure {
        let status = response.statusCode
        let reason = response.lupine.reason
        let address = ShownAddress.text(plan.url)
        let option = invocation.downloads ? "--download" : "--fail"
        return CommandFailure(
            status < 500 ? .clientError : .serverError,
            "The server answered \(status)\(reason.isEmpty ? "" : " \(reason)") for \(address), which \(option) makes a failure. --fail-with-body prints its body all the same."
        )
    }

    /// Opens the file that the content is saved to, or creates the presenter that prints it.
    ///
    /// - Parameters:
    ///   - response: The response; nil if the content arrives without one, as from a file URL.
    ///   - state: The state, which is locked.
    private func openDestination(for response: HTTPURLResponse?, _ state: inout State) throws {
        guard let destination else {
            state.presenter = BodyPresenter(
                sink: context.output, manner: output.manner, style: output.outputStyle,
                type: response?.contentTypeField)
            return
        }
        let isServerNamed =
            destination == .remoteName && invocation.usesServerFileName && offset == 0
            && response?.value(forHTTPHeaderField: "Content-Disposition") != nil
        let serverName = isServerNamed ? response?.suggestedFilename.map(RemoteName.unhidden) : nil
        // A download resumes the file that `resumption` has checked, whatever name the response suggests.
        let location = SaveLocation(destination, serverName, plan.url, context, in: invocation.outputFolder)
        state.report.file = location.name
        if invocation.createsFolders { location.makeFolder() }
        if state.saver?.path == location.path, offset == 0 {
            // An earlier attempt has started the file.
            try state.saver?.restart()
        } else {
            let saver = try FileSaver(
                path: location.path, shownName: location.name, offset: offset,
                expected: state.remainder?.count, isNew: isServerNamed, in: files, for: urlIndex)
            // The earlier attempt's file is discarded only now that the new one is open.
            state.saver?.discard()
            state.saver = saver
        }
        if let response, offset == 0, state.saver?.isRegular == true {
            saveResumeRecord(location.path, response)
        } else if offset > 0, !resumption.knowsVersion, !invocation.isSilent {
            context.errors.say(
                "lupine: nothing says of which version \(location.name) is; what comes is put behind it\n")
        }
        if let row = state.row {
            let length = response?.expectedContentLength ?? -1
            board?.update(row) {
                $0.offset = offset
                $0.count = 0
                $0.total = length >= 0 && length <= .max - offset ? offset + length : nil
            }
        }
    }

    /// Writes the resume record of a new file. A file that begins with a head gets none: it cannot be resumed.
    private func saveResumeRecord(_ path: String, _ response: HTTPURLResponse) {
        let record = invocation.savesHead ? nil : ResumeRecord(response, decodes: !invocation.keepsEncoding)
        if let record { record.write(for: path) } else { ResumeRecord.remove(path) }
    }

    /// Prints or saves a piece of content. Throws if it cannot be written, or exceeds `--max-filesize`.
    private func receive(_ data: Data) throws {
        try state.withLock { state in
            // Content from a file or data URL arrives without a head.
            if case .undecided = state.verdict {
                guard offset == 0 else {
                    let failure = Resumption.rangesUnsupported
                    state.verdict = .refused(failure)
                    throw failure
                }
                state.verdict = .accepted
                try openDestination(for: nil, &state)
            }
            guard case .accepted = state.verdict else { return }
            state.report.received += Int64(data.count)
            if let limit = invocation.maximumFileSize, state.report.received > limit {
                let failure = Self.tooLargeFailure(plan.url, limit)
                state.verdict = .refused(failure)
                throw failure
            }
            if state.saver != nil {
                do { try state.saver?.write(data) } catch {
                    state.verdict = .refused(
                        error as? CommandFailure ?? .unwritable(state.report.file ?? "", error))
                    throw error
                }
                if let row = state.row { board?.update(row) { $0.count += Int64(data.count) } }
                return
            }
            guard output.parts.contains(.responseBody) else { return }
            do { try state.presenter?.write(data) } catch {
                state.verdict = .refused(Self.outputFailure(error))
                throw error
            }
        }
    }

    // MARK: content that the transport writes into the file

    /// Returns the regular file into which the transport may write the content directly; nil if there is none, so that `receive`
    /// gets the content.
    private func directFile() -> FileHandle? {
        let (file, row, stream) = state.withLock { state -> (FileHandle?, Int?, DataStreamRequest?) in
            guard case .accepted = state.verdict, let saver = state.saver, saver.isRegular,
                state.remainder?.isFramed != false, invocation.maximumFileSize == nil
            else { return (nil, nil, nil) }
            state.isSavedDirectly = true
            return (saver.handle, state.row, state.stream)
        }
        if file != nil, let row, let task = stream?.task { board?.poll(row) { task.countOfBytesReceived } }
        return file
    }

    /// Releases the stream at the end of an attempt; until then the stream and its callbacks retain each other. The caller's
    /// reference prevents a deinit under the lock.
    private func release(_ stream: DataStreamRequest) { state.withLock { $0.stream = nil } }

    /// Adds the bytes that the transport has written into the file in this attempt, once the attempt is complete.
    private func addSavedBytes(_ count: Int64) {
        state.withLock { state in
            guard state.isSavedDirectly else { return }
            state.isSavedDirectly = false
            state.report.received += count
            state.saver?.addWritten(count)
        }
    }

    /// Returns the failure for an error of a write to the standard output.
    static func outputFailure(_ error: any Error) -> CommandFailure {
        CommandFailure(.write, "Cannot write to the standard output: \(FileErrorReason.reason(error)).")
    }

    /// Shows the progress of the upload, until the response arrives and its download is shown instead.
    private func updateUploadProgress(_ count: Int64, of total: Int64) {
        let row = state.withLock { state in state.saver == nil && state.presenter == nil ? state.row : nil }
        guard let row else { return }
        board?.update(row) {
            $0.count = count
            $0.total = total > 0 ? total : nil
        }
    }

    // MARK: redirects

    /// Returns whether a redirect is followed, and prints its head if the options ask for it. Called on the session's root queue.
    func handleRedirect(_ task: URLSessionTask, _ response: HTTPURLResponse, to request: URLRequest) -> Bool {
        guard state.withLock({ $0.redirects.allowRedirect(from: plan.url, to: request.url) }) else {
            return false
        }
        if let wire {
            wire.assign(task.taskIdentifier, of: session, to: reporter)
            WireReporter.blockUntilEventsAreReported(of: session)
        }
        if output.showsRedirectHeads {
            state.withLock { try? printHead(response, &$0) }
        }
        return true
    }

    // MARK: completion

    /// Returns the failure of an attempt; nil if it succeeded or its verdict makes the fetch end or repeat without one.
    private func failure(of completion: DataStreamRequest.Completion, _ verdict: Verdict) -> CommandFailure? {
        if case .refused(let failure) = verdict { return failure }
        if context.interruption.hasCome { return interruptedFailure }
        switch verdict {
        case .complete, .unchanged, .retry: return nil
        case .undecided, .accepted, .refused: break
        }
        return completion.error.map { ErrorMessage.failure(of: $0, url: plan.url, invocation: invocation) }
    }

    private var interruptedFailure: CommandFailure {
        CommandFailure(.interrupted, "Interrupted.")
    }

    /// Closes the file or the output, updates the resume record and the board, and returns the report.
    private func finish(_ failure: CommandFailure?) -> FetchReport {
        state.withLock { state in
            var failure = failure
            do {
                if failure == nil {
                    try state.presenter?.finish()
                    try state.saver?.complete()
                }
                try state.saver?.close()
                if failure == nil, invocation.setsServerTime { setModificationDate(state) }
            } catch { failure = failure ?? error as? CommandFailure ?? Self.outputFailure(error) }
            if failure == nil, invocation.fails, let response = state.report.response,
                response.statusCode >= 400, case .accepted = state.verdict
            {
                failure = statusFailure(response)
            }
            if failure == nil, let response = state.report.response, response.statusCode < 400 {
                do { try saveETag(response) } catch {
                    failure = error as? CommandFailure ?? Self.outputFailure(error)
                }
            }
            // An error page, or a part of one, is not the requested content and is not worth resuming.
            let isError = (state.report.response?.statusCode ?? 200) >= 400
            if let saver = state.saver {
                if failure == nil { ResumeRecord.remove(saver.path) }
                state.report.isResumable =
                    failure.map { $0.code != .resume } == true && !isError && offset + saver.written > 0
                    && saver.isRegular && !invocation.savesHead && invocation.range == nil
                state.report.file = saver.shownName
            }
            updateResumeRecord(state.verdict)
            state.report.failure = failure
            if let row = state.row { board?.finish(row, Self.rowOutcome(state.verdict, failure)) }
            return state.report
        }
    }

    /// Removes the resume record of a complete file. Warns if the server has nothing newer than a file that is partial.
    private func updateResumeRecord(_ verdict: Verdict) {
        guard let destination else { return }
        let location = SaveLocation(destination, nil, plan.url, context, in: invocation.outputFolder)
        switch verdict {
        case .complete: ResumeRecord.remove(location.path)
        case .unchanged where !invocation.isSilent && ResumeRecord.read(for: location.path) != nil:
            context.errors.say(
                "lupine: \(location.name) is a part of what the server has; -C - alone goes on with it\n")
        case .unchanged, .undecided, .accepted, .retry, .refused: break
        }
    }

    /// Returns the text that ends the fetch's row on the board.
    private static func rowOutcome(_ verdict: Verdict, _ failure: CommandFailure?) -> String {
        if let failure { return failure.code == .interrupted ? "interrupted" : "failed" }
        return switch verdict {
        case .complete: "is complete"
        case .unchanged: "has not changed"
        case .undecided, .accepted, .retry, .refused: "done"
        }
    }

    /// Sets a saved file's modification date to the response's Last-Modified.
    private func setModificationDate(_ state: State) {
        guard let saver = state.saver, saver.isRegular,
            let date = state.report.response?.value(forHTTPHeaderField: "Last-Modified").flatMap(
                DateText.date)
        else { return }
        try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: saver.path)
    }

    // MARK: heads

    /// Prints or saves the head of a response, as far as the options ask for it and `WireReporter` has not printed it.
    private func printHead(_ response: HTTPURLResponse, _ state: inout State) throws {
        try reporter.appendToHeadFile(response)
        guard output.parts.contains(.responseHead), !output.printsHeadsOnArrival else { return }
        let text = reporter.headText(response)
        if state.saver != nil, invocation.savesHead {
            try state.saver?.write(Data(text.plain.utf8))
        } else if state.saver == nil || invocation.print != nil {
            try context.output.print(text)
        }
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
        completion(fetch.handleRedirect(task, response, to: request) ? request : nil)
    }
}

extension HTTPURLResponse {
    /// The value of `Content-Type`, with its parameters.
    fileprivate var contentTypeField: String? { value(forHTTPHeaderField: "Content-Type") }
}
