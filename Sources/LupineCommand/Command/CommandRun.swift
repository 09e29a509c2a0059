// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Runs one command line: plans a request for each URL, sends the requests, and prints the reports. It sends the requests one
/// after the other, or concurrently if the content of at least one is saved to a file.
struct CommandRun: Sendable {
    /// The maximum number of requests that are sent concurrently.
    private static let maximumConcurrentFetches = 8

    private let invocation: Invocation
    private let context: ProcessContext

    init(_ invocation: Invocation, _ context: ProcessContext) {
        self.invocation = invocation
        self.context = context
    }

    /// Runs the command line, prints a failure on the standard error, and returns the exit code.
    func run() async -> ExitCode {
        let scratchFolder = context.temporaryFolder.appendingPathComponent("lupine-\(UUID().uuidString)")
        // An error is ignored: in most runs the folder does not exist.
        let removeScratchFolder = { @Sendable () -> Void in
            try? FileManager.default.removeItem(at: scratchFolder)
        }
        // The `defer` below does not run if a second signal ends the process immediately.
        let cleanupNumber = context.interruption.addCleanup(removeScratchFolder)
        defer {
            context.interruption.remove(cleanupNumber)
            removeScratchFolder()
        }
        do {
            return try await runRequests(scratchFolder)
        } catch let error as UsageError {
            context.errors.say("lupine: \(error)\n")
            return .usage
        } catch let failure as CommandFailure {
            printFailure(failure)
            return failure.code
        } catch {
            printFailure(CommandFailure(.failure, "\(error)"))
            return .failure
        }
    }

    /// Plans the requests. Then, depending on the options, prints them as curl commands, prints them as they would be sent, or
    /// sends them. Returns the exit code.
    ///
    /// - Parameter scratchFolder: The path for a folder of temporary files, which is created only if one is needed.
    private func runRequests(_ scratchFolder: URL) async throws -> ExitCode {
        // This local hides the property: it also has the password that the user is asked for.
        let invocation = try invocationWithPassword()
        let content = try ContentBuilder(
            invocation: invocation, context: context, scratchFolder: scratchFolder
        ).build()
        var cookieMemory = try CookieMemory(invocation, context)
        // Without a cookie storage, the planner sends the cookies of `-b a=b` as a header field.
        let planner = RequestPlanner(
            invocation: invocation, context: context, content: content, storedFields: cookieMemory.headers,
            sendsCookiesAsField: !cookieMemory.keepsCookies)
        let plans = try invocation.urls.map(planner.plan)
        // The cookies of `-b a=b` are sent only to the origins of these URLs.
        cookieMemory.addCommandLineCookies(for: plans.map(\.url))
        if invocation.printsCurl {
            try printCurlLines(of: plans, invocation, cookieMemory)
            return .success
        }
        let evaluator = try makeTrustEvaluator()
        let sessionMaker = SessionMaker(
            invocation: invocation, context: context, evaluator: evaluator, monitors: makeMonitors(),
            urls: plans.map(\.url))
        if invocation.isOffline {
            try printWithoutSending(plans, sessionMaker, cookieMemory)
            return .success
        }
        // With a web socket or server-sent events there is one URL, and no cookies are saved.
        if let plan = plans.first, ["ws", "wss"].contains(plan.url.scheme?.lowercased() ?? "") {
            return try await runWebSocket(plan, sessionMaker, cookieMemory)
        }
        if invocation.followsEvents, let plan = plans.first {
            return try await followEvents(plan, sessionMaker, cookieMemory)
        }
        let reports = try await fetch(plans, sessionMaker, cookieMemory)
        try cookieMemory.save()
        return try printReports(reports, evaluator)
    }

    /// Prints the curl command that is equivalent to each plan.
    private func printCurlLines(
        of plans: [RequestPlan], _ invocation: Invocation, _ cookieMemory: CookieMemory
    ) throws {
        for plan in plans {
            let cookies = cookieMemory.storage(for: plan.url)?.cookies(for: plan.url) ?? []
            let line = CurlLine(plan, invocation, context, cookies: cookies).text
            // A quoted argument may have line breaks. `lines:` prints them, and does not escape them.
            try context.output.print("\(lines: line)\n")
        }
    }

    /// Returns the evaluator that decides which servers are trusted; nil if the library's own rules apply unchanged.
    private func makeTrustEvaluator() throws -> CommandTrustEvaluator? {
        guard invocation.isInsecure || !invocation.pins.isEmpty || invocation.listsCertificates else {
            return nil
        }
        return try CommandTrustEvaluator(
            pins: invocation.pins, isInsecure: invocation.isInsecure,
            recordsChains: invocation.listsCertificates)
    }

    /// Returns the monitors of the sessions: the reporter of `--events`, or none.
    private func makeMonitors() -> [any EventMonitor] {
        guard invocation.reportsEvents else { return [] }
        return [
            EventReporter(sink: context.errors, style: errorStyle, showsSecrets: invocation.showsSecrets)
        ]
    }

    /// Prints the requests as they would be sent, without sending them.
    private func printWithoutSending(
        _ plans: [RequestPlan], _ sessionMaker: SessionMaker, _ cookieMemory: CookieMemory
    ) throws {
        for plan in plans {
            let session = try sessionMaker.session(for: plan, cookies: cookieMemory.storage(for: plan.url))
            do {
                let head = try session.session.requestHead(for: plan.request, bodyFrom: plan.bodyFile)
                // `hasContent: true` only allows the body to be printed: the options decide whether it is.
                reporter(plan).printRequest(Array(head), hasContent: true)
            } catch {
                // `failure(of:)` takes an `AFError`, and reports the error in it.
                throw ErrorMessage.failure(
                    of: .sessionTaskFailed(error: error), url: plan.url, invocation: sessionMaker.invocation)
            }
        }
    }

    /// Opens a web socket, sends and prints messages until it is closed, and returns the exit code.
    private func runWebSocket(
        _ plan: RequestPlan, _ sessionMaker: SessionMaker, _ cookieMemory: CookieMemory
    ) async throws -> ExitCode {
        let session = try sessionMaker.session(
            for: plan, cookies: cookieMemory.storage(for: plan.url), wire: wireReporter { reporter(plan) })
        return await SocketConversation(
            plan, sessionMaker.invocation, context, session: session, style: outputStyle
        ).run()
    }

    /// Prints the server-sent events of a response while they arrive, and a failure. Returns the exit code.
    private func followEvents(
        _ plan: RequestPlan, _ sessionMaker: SessionMaker, _ cookieMemory: CookieMemory
    ) async throws -> ExitCode {
        let session = try sessionMaker.session(
            for: plan, cookies: cookieMemory.storage(for: plan.url), wire: wireReporter { reporter(plan) })
        let follower = EventFollower(
            plan, sessionMaker.invocation, context, session: session, style: outputStyle)
        let failure = await follower.run()
        if let failure { printFailure(failure) }
        return failure?.code ?? .success
    }

    private var outputStyle: Style {
        Style(isOn: context.usesColor(on: context.output, invocation.color))
    }
    private var errorStyle: Style {
        Style(isOn: context.usesColor(on: context.errors, invocation.color))
    }

    /// Returns a reporter that prints the heads which a session sends and receives; nil if the options do not ask for them.
    ///
    /// - Parameter makeDefault: Returns the reporter of all tasks to which `WireReporter.assign` has assigned none.
    private func wireReporter(_ makeDefault: () -> FetchReporter?) -> WireReporter? {
        let parts = invocation.printedParts ?? []
        let printsRequest = !parts.isDisjoint(with: [.requestHead, .requestBody])
        guard invocation.isVerbose || printsRequest else { return nil }
        return WireReporter(makeDefault())
    }

    /// Returns a reporter for a request whose content is not saved to a file.
    private func reporter(_ plan: RequestPlan) -> FetchReporter {
        FetchReporter(
            invocation: invocation, context: context,
            output: OutputPlan(invocation, context, saves: false), request: plan.request)
    }

    /// Returns the invocation with a password for the user of `-u`. If the password is missing and the standard input is a
    /// terminal, asks the user for it. With a bearer token no password is needed.
    private func invocationWithPassword() throws -> Invocation {
        guard invocation.token == nil, let user = invocation.user, !user.contains(":"),
            context.input.kind == .terminal
        else { return invocation }
        var changed = invocation
        context.errors.say("Password for \(user): ")
        let password = try context.input.readSecret()
        // The terminal has not echoed the line end.
        context.errors.say("\n")
        changed.user = "\(user):\(password)"
        return changed
    }

    // MARK: sending

    /// Returns the destination for the content of the URL with this index; nil for the standard output. A single `-O` is for all
    /// URLs.
    private func destination(ofURLAt index: Int) -> Invocation.Destination? {
        let destinations = invocation.destinations
        if destinations == [.remoteName] { return .remoteName }
        // `-o -` means the standard output, which also gets the content of a URL without a destination of its own.
        guard index < destinations.count, destinations[index] != .file("-") else { return nil }
        return destinations[index]
    }

    /// Sends the requests, and returns their reports. If the user interrupts the command, requests that are sent one after the
    /// other and have not been started have no report.
    private func fetch(
        _ plans: [RequestPlan], _ sessionMaker: SessionMaker, _ cookieMemory: CookieMemory
    ) async throws -> [FetchReport] {
        let savesContent = plans.indices.contains { destination(ofURLAt: $0) != nil }
        let hasProgress = savesContent || invocation.uploadFile != nil
        let showsProgress = hasProgress && !invocation.isSilent && invocation.showsProgress
        let progressBoard =
            showsProgress
            ? ProgressBoard(sink: context.errors, unicode: context.drawsUnicode, style: errorStyle)
            : nil
        progressBoard?.begin()
        defer { progressBoard?.close() }
        // One session for each cookie storage. `--session` has a storage for each origin; otherwise there is at most one storage.
        // The key is nil for requests without a storage. `wire` prints the heads that the session sends and receives; it is nil
        // if no option asks for them.
        var sessions: [ObjectIdentifier?: (session: Session, wire: WireReporter?)] = [:]
        let savedFiles = SavedFiles()
        var fetches: [Fetch] = []
        for (index, plan) in plans.enumerated() {
            let destination = destination(ofURLAt: index)
            let cookies = cookieMemory.storage(for: plan.url)
            let key = cookies.map { ObjectIdentifier($0) }
            // Nil: `Fetch` assigns a reporter to each of its tasks, so no default is needed.
            let newWire = wireReporter { nil }
            let (session, wire) =
                try sessions[key]
                ?? (
                    session: sessionMaker.session(for: plan, cookies: cookies, wire: newWire),
                    wire: newWire
                )
            sessions[key] = (session: session, wire: wire)
            fetches.append(
                Fetch(
                    plan, invocation, context, session: session, wire: wire,
                    output: OutputPlan(invocation, context, saves: destination != nil),
                    destination: destination, board: progressBoard, files: savedFiles, urlIndex: index))
        }
        if savesContent, fetches.count > 1 { return await runConcurrently(fetches) }
        var reports: [FetchReport] = []
        for fetch in fetches {
            reports.append(await fetch.run())
            if context.interruption.hasOccurred { break }
        }
        return reports
    }

    /// Runs all fetches, some of them at the same time, and returns their reports in the order of the fetches.
    private func runConcurrently(_ fetches: [Fetch]) async -> [FetchReport] {
        await withTaskGroup(of: (Int, FetchReport).self) { group in
            var reports: [Int: FetchReport] = [:]
            var nextIndex = 0
            func startNext() {
                guard nextIndex < fetches.count else { return }
                let (index, fetch) = (nextIndex, fetches[nextIndex])
                nextIndex += 1
                group.addTask { (index, await fetch.run()) }
            }
            // Each fetch that ends makes room for the next one.
            for _ in 0..<Self.maximumConcurrentFetches { startNext() }
            for await (index, report) in group {
                reports[index] = report
                startNext()
            }
            return reports.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    // MARK: reports

    /// Prints the reports that the options ask for, and the failures. Returns the code of the last fetch that failed.
    ///
    /// - Parameters:
    ///   - reports: The results of the fetches.
    ///   - evaluator: The evaluator that has stored the certificates of the servers.
    private func printReports(
        _ reports: [FetchReport], _ evaluator: CommandTrustEvaluator?
    ) throws -> ExitCode {
        if invocation.isVerbose {
            for report in reports { context.errors.say(ConnectionReport.text(report)) }
        }
        if invocation.listsCertificates, let evaluator {
            context.errors.say(CertificateReport.text(evaluator.presentedChains, style: errorStyle))
        }
        let waterfalls = reports.map { Waterfall($0) }
        switch invocation.timing {
        case .json:
            // `lines:` prints the line breaks of the text. Without this label they would be escaped.
            context.errors.say("\(lines: waterfalls.map(\.json).joined(separator: "\n"))\n")
        case .text:
            let texts = waterfalls.map {
                $0.text(
                    columns: context.errors.columns(), unicode: context.drawsUnicode, style: errorStyle)
            }
            context.errors.say(texts.joined("\n"))
        case nil: break
        }
        if invocation.printedParts?.contains(.metrics) == true {
            for waterfall in waterfalls {
                try context.output.print(
                    waterfall.text(
                        columns: context.output.columns(), unicode: context.drawsUnicode,
                        style: outputStyle))
            }
        }
        for report in reports {
            if let format = invocation.writeOutFormat {
                try context.output.print(WriteOut(report).text(format))
            }
            if let failure = report.failure { printFailure(failure, report) }
        }
        return reports.last { $0.failure != nil }?.exitCode ?? .success
    }

    /// Prints a failure on the standard error as one paragraph. If a download can be resumed, adds the command line that does so.
    ///
    /// - Parameters:
    ///   - failure: The failure.
    ///   - report: The report of the fetch that failed; nil if there is none.
    private func printFailure(_ failure: CommandFailure, _ report: FetchReport? = nil) {
        guard !invocation.isSilent || invocation.showsErrors else { return }
        var text = failure.description
        if let report, report.isResumable, let file = report.shownFileName {
            let command = "lupine -C - -o \(CurlLine.quoted(file))"
            let typedURL = report.plan.typedURL
            // `ShownAddress` removes what may be a secret. If it changes the URL, the URL is not printed.
            let hasSecret = ShownAddress.text(typedURL) != typedURL
            text +=
                hasSecret
                ? " What has come is in \(file); go on with it by \(command) and the same address."
                : " What has come is in \(file); go on with it by: \(command) \(CurlLine.quoted(typedURL))"
        }
        // On a terminal, lines break between words, at 30 columns or more. In a log, the paragraph is one line.
        let columns = context.errors.isTerminal ? context.errors.columns() : 10_000
        let paragraph = HelpPage.wrapped(
            TerminalFilter.line("lupine: \(text)"), indent: 0, width: max(30, columns - 1))
        // The paragraph is already filtered; `lines:` prints its line breaks and does not escape them.
        context.errors.say("\(lines: paragraph)\n")
    }
}
