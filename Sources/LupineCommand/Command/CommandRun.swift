// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Runs one command line: plans its requests, loads them one after the other (or concurrently if they are saved to files), and
/// prints the reports.
struct CommandRun: Sendable {
    private let invocation: Invocation
    private let context: ProcessContext

    init(_ invocation: Invocation, _ context: ProcessContext) {
        self.invocation = invocation
        self.context = context
    }

    func run() async -> ExitCode {
        let scratch = context.temporaryFolder.appendingPathComponent("lupine-\(UUID().uuidString)")
        let remove = { @Sendable () -> Void in try? FileManager.default.removeItem(at: scratch) }
        let leaving = context.interruption.beforeLeaving(remove)
        defer {
            context.interruption.forget(leaving)
            remove()
        }
        do {
            return try await load(scratch)
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

    private func load(_ scratch: URL) async throws -> ExitCode {
        let invocation = try withPassword()
        let content = try ContentBuilder(invocation: invocation, context: context, scratch: scratch)
            .build()
        var memory = try CookieMemory(invocation, context)
        let planner = RequestPlanner(
            invocation: invocation, context: context, content: content, remembered: memory.headers,
            sendsCookiesAsField: !memory.keepsCookies)
        let plans = try invocation.urls.map(planner.plan)
        memory.setGivenCookies(for: plans.map(\.url))
        if invocation.printsCurl {
            for plan in plans {
                let cookies = memory.storage(for: plan.url)?.cookies(for: plan.url) ?? []
                let line = CurlLine(plan, invocation, context, cookies: cookies).text
                try context.output.print("\(lines: line)\n")
            }
            return .success
        }
        let needsEvaluator = invocation.isInsecure || !invocation.pins.isEmpty || invocation.listsCertificates
        let evaluator =
            needsEvaluator
            ? try CommandTrustEvaluator(
                pins: invocation.pins, isInsecure: invocation.isInsecure,
                keepsChains: invocation.listsCertificates) : nil
        let monitors: [any EventMonitor] =
            invocation.reportsEvents
            ? [
                EventReporter(
                    sink: context.errors, style: errorStyle, showsSecrets: invocation.showsSecrets)
            ] : []
        let maker = SessionMaker(
            invocation: invocation, context: context, evaluator: evaluator, monitors: monitors,
            urls: plans.map(\.url))
        if invocation.isOffline {
            for plan in plans {
                let session = try maker.session(for: plan, cookies: memory.storage(for: plan.url))
                do {
                    let head = try session.session.requestHead(for: plan.request, bodyFrom: plan.bodyFile)
                    reporter(plan).sent(Array(head), hasContent: true)
                } catch {
                    throw ErrorMessage.failure(
                        of: .sessionTaskFailed(error: error), url: plan.url, invocation: invocation)
                }
            }
            return .success
        }
        if let plan = plans.first, ["ws", "wss"].contains(plan.url.scheme?.lowercased() ?? "") {
            let session = try maker.session(
                for: plan, cookies: memory.storage(for: plan.url), wire: wire { reporter(plan) })
            return await SocketConversation(plan, invocation, context, session: session, style: outputStyle)
                .run()
        }
        if invocation.followsEvents, let plan = plans.first {
            let session = try maker.session(
                for: plan, cookies: memory.storage(for: plan.url), wire: wire { reporter(plan) })
            let follower = EventFollower(plan, invocation, context, session: session, style: outputStyle)
            let failure = await follower.run()
            if let failure { printFailure(failure) }
            return failure?.code ?? .success
        }
        let reports = try await fetch(plans, maker, memory)
        try memory.save()
        return try printReports(reports, evaluator)
    }

    private var outputStyle: Style {
        Style(isOn: context.usesColor(on: context.output, invocation.color))
    }
    private var errorStyle: Style {
        Style(isOn: context.usesColor(on: context.errors, invocation.color))
    }

    /// Returns a reporter of what a session sends and receives, if the command line asks for one.
    private func wire(_ makeDefault: () -> FetchReporter?) -> WireReporter? {
        let parts = invocation.print ?? []
        guard invocation.isVerbose || !parts.isDisjoint(with: [.requestHead, .requestBody]) else {
            return nil
        }
        return WireReporter(makeDefault())
    }

    private func reporter(_ plan: RequestPlan) -> FetchReporter {
        FetchReporter(
            invocation: invocation, context: context,
            output: OutputPlan(invocation, context, saves: false), request: plan.request)
    }

    /// Asks on the terminal for a password that `-u` omits. With a token there is no password.
    private func withPassword() throws -> Invocation {
        guard invocation.token == nil, let user = invocation.user, !user.contains(":"),
            context.input.kind == .terminal
        else { return invocation }
        var changed = invocation
        context.errors.say("Password for \(user): ")
        let line = try context.input.readSecret()
        context.errors.say("\n")
        changed.user = "\(user):\(line)"
        return changed
    }

    // MARK: loading

    private func destination(_ index: Int) -> Invocation.Destination? {
        let all = invocation.destinations
        guard !all.isEmpty else { return nil }
        let destination =
            all.count == 1 && all[0] == .remoteName ? .remoteName : index < all.count ? all[index] : nil
        return destination == .file("-") ? nil : destination
    }

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
        // One session for all plans, or one for each origin's cookie storage.
        var sessions: [ObjectIdentifier?: (Session, WireReporter?)] = [:]
        let files = SavedFiles()
        let fetches = try plans.enumerated().map { index, plan in
            let destination = destination(index)
            let cookies = memory.storage(for: plan.url)
            let key = cookies.map { ObjectIdentifier($0) }
            let wire = wire { nil }
            let (session, reporter) =
                try sessions[key] ?? (maker.session(for: plan, cookies: cookies, wire: wire), wire)
            sessions[key] = (session, reporter)
            return Fetch(
                plan, invocation, context, session: session, wire: reporter,
                output: OutputPlan(invocation, context, saves: destination != nil),
                destination: destination, board: board, files: files, number: index)
        }
        if saves, fetches.count > 1 { return await runConcurrently(fetches) }
        var reports: [FetchReport] = []
        for fetch in fetches {
            reports.append(await fetch.run())
            if context.interruption.hasCome { break }
        }
        return reports
    }

    /// Runs all fetches concurrently, at most eight at a time.
    private func runConcurrently(_ fetches: [Fetch]) async -> [FetchReport] {
        await withTaskGroup(of: (Int, FetchReport).self) { group in
            var found: [Int: FetchReport] = [:]
            var next = 0
            func begin() {
                guard next < fetches.count else { return }
                let (index, fetch) = (next, fetches[next])
                next += 1
                group.addTask { (index, await fetch.run()) }
            }
            for _ in 0..<8 { begin() }
            for await (index, report) in group {
                found[index] = report
                begin()
            }
            return found.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    // MARK: reports

    private func printReports(
        _ reports: [FetchReport], _ evaluator: CommandTrustEvaluator?
    ) throws -> ExitCode {
        if invocation.isVerbose {
            for report in reports { context.errors.say(ConnectionReport.text(report)) }
        }
        if invocation.listsCertificates, let evaluator {
            context.errors.say(CertificateReport.text(evaluator.presented, style: errorStyle))
        }
        let measured = reports.map { Waterfall($0) }
        if let timing = invocation.timing {
            let text =
                timing == .json
                ? "\(lines: measured.map(\.json).joined(separator: "\n"))\n"
                : measured.map {
                    $0.text(
                        columns: context.errors.columns(), unicode: context.drawsUnicode,
                        style: errorStyle)
                }.joined("\n")
            context.errors.say(text)
        }
        if invocation.print?.contains(.metrics) == true {
            for waterfall in measured {
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
        return reports.last { $0.failure != nil }?.code ?? .success
    }

    private func printFailure(_ failure: CommandFailure, _ report: FetchReport? = nil) {
        guard !invocation.isSilent || invocation.showsErrors else { return }
        var text = failure.description
        if let report, report.resumable, let file = report.file {
            let start = "lupine -C - -o \(CurlLine.quoted(file))"
            let typed = report.plan.typed
            // An address that may contain a secret is not printed; the user has it.
            text +=
                ShownAddress.text(typed) == typed
                ? " What has come is in \(file); go on with it by: \(start) \(CurlLine.quoted(typed))"
                : " What has come is in \(file); go on with it by \(start) and the same address."
        }
        let columns = context.errors.isTerminal ? context.errors.columns() : 10_000
        let paragraph = HelpPage.wrapped(
            TerminalFilter.line("lupine: \(text)"), indent: 0, width: max(30, columns - 1))
        context.errors.say("\(lines: paragraph)\n")
    }
}
