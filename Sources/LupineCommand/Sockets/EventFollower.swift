// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Follows server-sent events (`--sse`): prints each event as it arrives, and reconnects after a lost connection with the last
/// event ID, after the delay that the server set.
final class EventFollower: Sendable {
    private struct State {
        /// The last event ID, stored as octets: they compare quickly, and each event compares them.
        var lastID = Data()
        var wait = 3.0
        var refusal: CommandFailure?
        var events = 0
    }

    private let plan: RequestPlan
    private let invocation: Invocation
    private let context: ProcessContext
    private let session: Session
    private let style: Style
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "lupine.events.follow")

    init(
        _ plan: RequestPlan, _ invocation: Invocation, _ context: ProcessContext, session: Session,
        style: Style
    ) {
        self.plan = plan
        self.invocation = invocation
        self.context = context
        self.session = session
        self.style = style
    }

    /// Follows the stream until it ends for good, the user interrupts it, or reconnecting fails.
    func run() async -> CommandFailure? {
        var left = max(invocation.retries, 0)
        while true {
            let before = state.withLock { $0.events }
            let error = await connect()
            await WireReporter.eventsReported(of: session)
            let (refusal, wait, events) = state.withLock { ($0.refusal, $0.wait, $0.events) }
            if context.interruption.hasCome { return CommandFailure(.interrupted, "Interrupted.") }
            if let refusal { return refusal }
            // Without --retry the end of the stream is final. With it, that many reconnections in a row may bring no event.
            if events > before { left = max(invocation.retries, 0) }
            guard left > 0 else {
                return error.map { ErrorMessage.failure(of: $0, url: plan.url, invocation: invocation) }
            }
            left -= 1
            if !invocation.isSilent {
                context.errors.say("lupine: the stream has ended; again in \(ByteText.duration(wait))\n")
            }
            await context.interruption.pause(wait)
        }
    }

    private func connect() async -> AFError? {
        let last = state.withLock { $0.lastID }
        // An ID with control characters is not a valid field value, so the stream starts over.
        let canStand = last.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
        let sent =
            last.isEmpty || !canStand
            ? plan : plan.adding([("Last-Event-ID", String(decoding: last, as: UTF8.self))])
        let stream = session.streamRequest(sent.request, automaticallyCancelOnStreamError: true)
        let redirects = RedirectCounter(plan.url, invocation)
        stream.redirect(using: redirects)
        let listener = context.interruption.listen { stream.cancel() }
        defer { context.interruption.forget(listener) }
        return await withCheckedContinuation { continuation in
            stream.onHTTPResponse(on: queue) { response, answer in
                answer(self.accepts(response, redirects) ? .allow : .cancel)
            }
            stream.responseStream(using: .serverSentEvents, on: queue) { stream in
                switch stream.event {
                case .stream(.success(let event)):
                    do { try self.print(event) } catch {
                        // The output is closed: another connection would be useless.
                        self.state.withLock { $0.refusal = Fetch.broken(error) }
                        throw error
                    }
                case .stream(.failure): break
                case .complete(let completion): continuation.resume(returning: completion.error)
                }
            }
        }
    }

    private func accepts(_ response: HTTPURLResponse, _ redirects: RedirectCounter) -> Bool {
        if let failure = redirects.failure {
            state.withLock { $0.refusal = failure }
            return false
        }
        guard response.statusCode == 200 else {
            let code: ExitCode = response.statusCode >= 500 ? .serverError : .clientError
            state.withLock {
                $0.refusal = CommandFailure(
                    code,
                    "Cannot follow events of \(ShownAddress.text(plan.url)): the server answered \(response.statusCode). Events come with 200; follow a redirect with -L."
                )
            }
            return false
        }
        return true
    }

    private func print(_ event: ServerSentEvent) throws {
        let id = Data(event.lastEventID.utf8)
        let isNewID = state.withLock { state -> Bool in
            let isNewID = state.lastID != id
            state.lastID = id
            state.events += 1
            if let wait = event.reconnectionTime { state.wait = min(max(wait, 0.1), 600) }
            return isNewID
        }
        var writer = ProcessContext.ContentWriter(context.output)
        if context.output.isTerminal || invocation.pretty != nil {
            // An ID applies until the next one. It is printed only when it changes: a long one would multiply the output.
            let name = event.type + (isNewID && !event.lastEventID.isEmpty ? " \(event.lastEventID)" : "")
            if name != "message" { try writer.text(style.paint("[\(name)] ", .faint)) }
            try writer.painted(event.data, style)
        } else {
            try writer.content(Data(event.data.utf8))
        }
        try writer.trusted("\n")
        try writer.flush()
    }
}
