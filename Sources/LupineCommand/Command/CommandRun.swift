// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Runs one command line: plans a request for each URL, sends the requests one after the other (or concurrently if their content
/// is saved to files), and prints the reports.
struct CommandRun: Sendable {
    private let invocation: Invocation
    private let context: ProcessContext

    init(_ invocation: Invocation, _ context: ProcessContext) {
        self.invocation = invocation
        self.context = context
    }

    /// Runs the command line, prints a failure on the standard error, and returns the exit code.
    func run() async -> ExitCode {
        let scratchFolder = context.temporaryFolder.appendingPathComponent("lupine-\(UUID().uuidString)")
        let removeScratchFolder = { @Sendable () -> Void in
            try? FileManager.default.removeItem(at: scratchFolder)
        }
        let cleanup = context.interruption.addCleanup(removeScratchFolder)
        defer {
            context.interruption.remove(cleanup)
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

    /// Plans the requests, and, depending on the options, prints them as curl lines, prints them as they would be sent, or sends
    /// them.
    ///
    /// - Parameter scratchFolder: The path for a folder of temporary files, which is created only if one is needed.
    private func runRequests(_ scratchFolder: URL) async throws -> ExitCode {
        let invocation = try askingForPassword()
        let content = try ContentBuilder(
            invocation: invocation, context: context, scratchFolder: scratchFolder
        ).build()
        var memory = try CookieMemory(invocation, context)
        let planner = RequestPlanner(
            invocation: invocation, context: context, content: content, storedFields: memory.headers,
            sendsCookiesAsField: !memory.keepsCookies)
        let plans = try invocation.urls.map(planner.plan)
        memory.addCommandLineCookies(for: plans.map(\.url))
        if invocation.printsCurl {
            try printCurlLines(of: plans, invocation, memory)
            return .success
        }
        let evaluator = try makeTrustEvaluator()
        let maker = SessionMaker(
            invocation: invocation, context: context, evaluator: evaluator, monitors: makeMonitors(),
            urls: plans.map(\.url))
        if invocation.isOffline {
            try printHeads(of: plans, maker, memory)
            return .success
        }
        if let plan = plans.first, ["ws", "wss"].contains(plan.url.scheme?.lowercased() ?? "") {
            return try await converse(plan, maker, memory)
        }
        if invocation.followsEvents, let plan = plans.first {
            return try await followEvents(plan, maker, memory)
        }
        let reports = try await fetch(plans, maker, memory)
        try memory.save()
        return try printReports(reports, evaluator)
    }

    /// Prints the curl command of each plan.
    private func printCurlLines(
        of plans: [RequestPlan], _ invocation: Invocation, _ memory: CookieMemory
    ) throws {
        for plan in plans {
            let cookies = memory.storage(for: plan.url)?.cookies(for: plan.url) ?? []
            let line = CurlLine(plan, invocation, context, cookies: cookies).text
            try context.output.print("\(lines: line)\n")
        }
    }

    /// Returns the evaluator of servers; nil if the options need none.
    private func makeTrustEvaluator() throws -> CommandTrustEvaluator? {
        guard invocation.isInsecure || !invocation.pins.isEmpty || invocation.listsCertificates else {
            return nil
        }
        return try CommandTrustEvaluator(
            pins: invocation.pins, isInsecure: invocation.isInsecure,
            recordsChains: invocation.listsCertificates)
    }

    /// Returns the monitors of the sessions.
    private func makeMonitors() -> [any EventMonitor] {
        guard invocation.reportsEvents else { return [] }
        return [
            EventReporter(sink: context.errors, style: errorStyle, showsSecrets: invocation.showsSecrets)
        ]
    }

    /// Prints the requests as they would be sent, without sending them.
    private func printHeads(
        of plans: [RequestPlan], _ maker: SessionMaker, _ memory: CookieMemory
    ) throws {
        for plan in plans {
            let session = try maker.session(for: plan, cookies: memory.storage(for: plan.url))
            do {
                let head = try session.session.requestHead(for: plan.request, bodyFrom: plan.bodyFile)
                reporter(plan).printRequest(Array(head), hasContent: true)
            } catch {
                throw ErrorMessage.failure(
                    of: .sessionTaskFailed(error: error), url: plan.url, invocation: maker.invocation)
            }
        }
    }

    /// Opens a web socket, and sends and prints its messages.
    private func converse(
        _ plan: RequestPlan, _ maker: SessionMaker, _ memory: CookieMemory
    ) async throws -> ExitCode {
        let session = try maker.session(
            for: plan, cookies: memory.storage(for: plan.url), wire: wireReporter { reporter(plan) })
        return await SocketConversation(
            plan, maker.invocation, context, session: session, style: outputStyle
        ).run()
    }

    /// Prints the server-sent events of a response, and a failure.
    private func followEvents(
        _ plan: RequestPlan, _ maker: SessionMaker, _ memory: CookieMemory
    ) async throws -> ExitCode {
        let session = try maker.session(
            for: plan, cookies: memory.storage(for: plan.url), wire: wireReporter { reporter(plan) })
        let follower = EventFollower(plan, maker.invocation, context, session: session, style: outputStyle)
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

    /// Returns a reporter of the heads that a session sends and receives; nil if the options do not ask for one.
    ///
    /// - Parameter makeDefault: Returns the reporter of all tasks to which none is assigned.
    private func wireReporter(_ makeDefault: () -> FetchReporter?) -> WireReporter? {
        let parts = invocation.print ?? []
        guard invocation.isVerbose || !parts.isDisjoint(with: [.requestHead, .requestBody]) else {
            return nil
        }
        return WireReporter(makeDefault())
    }

    /// Returns a reporter for a request whose content is not saved to a file.
    private func reporter(_ plan: RequestPlan) -> FetchReporter {
        FetchReporter(
            invocation: invocation, context: context,
            output: OutputPlan(invocation, context, saves: false), request: plan.request)
    }

    /// Returns the invocation with the password that `-u` omits, for which the user is asked if the standard input is a terminal.
    /// With a token no password is needed.
    private func askingForPassword() throws -> Invocation {
        guard invocation.token == nil, let user = invocation.user, !user.contains(":"),
            context.input.kind == .terminal
        else { return invocation }
        var changed = invocation
        context.errors.say("Password for \(user): ")
        let password = try context.input.readSecret()
        context.errors.say("\n")
        changed.user = "\(user):\(password)"
        return changed
    }

    // MARK: sending

    /// Returns the destination for the URL with this index; nil for the standard output. A single `-O` is for all URLs.
    private func destination(_ index: Int) -> Invocation.Destination? {
        let destinations = invocation.destinations
        if destinations == [.remoteName] { return .remoteName }
        guard index < destinations.count, destinations[index] != .file("-") else { return nil }
        return destinations[index]
    }

    /// Sends the requests, and returns a report for each that was started before an interruption.
    private func fetch(
        _ plans: [RequestPlan], _ maker: SessionMaker, _ memory: CookieMemory
    ) async throws -> [FetchReport] {
        let saves = plans.indices.contains { destination($0) != nil }
        let showsProgress =
            (saves || invocation.upload != nil) && !invocation.isSilent && invocation.showsProgress
        let board =
            showsProgress
            ? ProgressBoard(sink: context.errors, unicode: context.drawsUnicode, style: errorStyle)
            : nil
        board?.begin()
        defer { board?.close() }
        // One session for each cookie storage: `--session` has a storage for each origin, and otherwise there is at most one.
        var sessions: [ObjectIdentifier?: (Session, WireReporter?)] = [:]
        let files = SavedFiles()
        let fetches = try plans.enumerated().map { index, plan in
            let destination = destination(index)
            let cookies = memory.storage(for: plan.url)
            let key = cookies.map { ObjectIdentifier($0) }
            let wire = wireReporter { nil }
            let (session, reporter) =
                try sessions[key] ?? (maker.session(for: plan, cookies: cookies, wire: wire), wire)
            sessions[key] = (session, reporter)
            return Fetch(
                plan, invocation, context, session: session, wire: reporter,
                output: OutputPlan(invocation, context, saves: destination != nil),
                destination: destination, board: board, files: files, urlIndex: index)
        }
        if saves, fetches.count > 1 { return await runConcurrently(fetches) }
        var reports: [FetchReport] = []
        for fetch in fetches {
            reports.append(await fetch.run())
            if context.interruption.hasOccurred { break }
        }
        return reports
    }

    /// Runs all fetches, at most eight at a time, and returns their reports in the order of the fetches.
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
            for _ in 0..<8 { startNext() }
            for await (index, report) in group {
                reports[index] = report
                startNext()
            }
            return reports.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    // MARK: reports

    /// Prints the reports that the options ask for, and the failures. Returns the code of the last fetch that failed.
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
            context.errors.say("\(lines: waterfalls.map(\.json).joined(separator: "\n"))\n")
        case .text:
            let texts = waterfalls.map {
                $0.text(
                    columns: context.errors.columns(), unicode: context.drawsUnicode, style: errorStyle)
            }
            context.errors.say(texts.joined("\n"))
        case nil: break
        }
        if invocation.print?.contains(.metrics) == true {
            for waterfall in waterfalls {
                try context.output.print(
                    waterfall.text(
                        columns: context.output.columns(), unicode: context.drawsUnicode,
                        style: outputStyle))
            }
        }
        for report in reports {
            if let format = invocation.writeOut {
                try context.output.print(WriteOut(report).text(format))
            }
            if let failure = report.failure { printFailure(failure, report) }
        }
        return reports.last { $0.failure != nil }?.exitCode ?? .success
    }

    /// Prints a failure on the standard error, and for a download that can be resumed the command line that does so.
    private func printFailure(_ failure: CommandFailure, _ report: FetchReport? = nil) {
        guard !invocation.isSilent || invocation.showsErrors else { return }
        var text = failure.description
        if let report, report.isResumable, let file = report.shownFileName {
            let command = "lupine -C - -o \(CurlLine.quoted(file))"
            let typed = report.plan.typed
            // An address that may contain a secret is not printed.
            text +=
                ShownAddress.text(typed) == typed
                ? " What has come is in \(file); go on with it by: \(command) \(CurlLine.quoted(typed))"
                : " What has come is in \(file); go on with it by \(command) and the same address."
        }
        let columns = context.errors.isTerminal ? context.errors.columns() : 10_000
        let paragraph = HelpPage.wrapped(
            TerminalFilter.line("lupine: \(text)"), indent: 0, width: max(30, columns - 1))
        context.errors.say("\(lines: paragraph)\n")
    }
}
