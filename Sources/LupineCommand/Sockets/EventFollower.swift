// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// Follows server-sent events (`--sse`): prints each event when it arrives. After the end of the stream, it waits for the delay
/// that the server has set, and reconnects with the last event ID.
final class EventFollower: Sendable {
    private struct State {
        /// The last event ID, with which each event's ID is compared. Octets are compared faster than a `String`.
        var lastID = Data()
        /// The seconds before a reconnection, unless the server sets another delay.
        var reconnectionDelay = 3.0
        /// A failure after which no reconnection is tried.
        var failure: CommandFailure?
        /// The number of events received.
        var eventCount = 0
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

    /// Follows the stream until no reconnection is left, the user interrupts the command, or a failure occurs. Returns the
    /// failure, if any.
    func run() async -> CommandFailure? {
        var retriesLeft = max(invocation.retryLimit, 0)
        while true {
            let countBefore = state.withLock { $0.eventCount }
            let error = await connect()
            await WireReporter.suspendUntilEventsAreReported(of: session)
            let (failure, delay, count) = state.withLock {
                ($0.failure, $0.reconnectionDelay, $0.eventCount)
            }
            if context.interruption.hasOccurred { return CommandFailure(.interrupted, "Interrupted.") }
            if let failure { return failure }
            // Without --retry, there is no reconnection. With --retry N, there are at most N in a row without an event.
            if count > countBefore { retriesLeft = max(invocation.retryLimit, 0) }
            guard retriesLeft > 0 else {
                // A stream that ends without an error is a success.
                return error.map { ErrorMessage.failure(of: $0, url: plan.url, invocation: invocation) }
            }
            retriesLeft -= 1
            if !invocation.isSilent {
                context.errors.say("lupine: the stream has ended; again in \(ByteText.duration(delay))\n")
            }
            await context.interruption.wait(atMostSeconds: delay)
        }
    }

    /// Sends the request and prints the events until the stream ends. Returns the stream's error, if any.
    private func connect() async -> AFError? {
        let lastID = state.withLock { $0.lastID }
        // An ID with control characters other than tabs is not a valid field value (RFC 9110 §5.5). It is not sent, and the
        // stream starts over.
        let isFieldValue = lastID.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
        var plan = plan
        if !lastID.isEmpty, isFieldValue {
            plan = plan.adding([("Last-Event-ID", String(decoding: lastID, as: UTF8.self))])
        }
        // An error that the handler throws cancels the request.
        let stream = session.streamRequest(plan.request, automaticallyCancelOnStreamError: true)
        let redirects = CommandRedirectHandler(plan.url, invocation)
        stream.redirect(using: redirects)
        // If the user interrupted the command before this call, the listener is called at once.
        let listenerNumber = context.interruption.addListener { stream.cancel() }
        defer { context.interruption.remove(listenerNumber) }
        return await withCheckedContinuation { continuation in
            stream.onHTTPResponse(on: queue) { response, completionHandler in
                completionHandler(self.acceptResponse(response, redirects) ? .allow : .cancel)
            }
            stream.responseStream(using: .serverSentEvents, on: queue) { stream in
                switch stream.event {
                case .stream(.success(let event)):
                    do { try self.print(event) } catch {
                        // Without an output, a reconnection would be useless: the failure prevents it.
                        self.state.withLock { $0.failure = Fetch.outputFailure(error) }
                        throw error
                    }
                // The stream is cancelled after an error of the parser, and then completes.
                case .stream(.failure): break
                case .complete(let completion): continuation.resume(returning: completion.error)
                }
            }
        }
    }

    /// Returns whether the events of a response are to be received; if not, sets the failure.
    private func acceptResponse(_ response: HTTPURLResponse, _ redirects: CommandRedirectHandler) -> Bool {
        if let failure = redirects.failure {
            state.withLock { $0.failure = failure }
            return false
        }
        guard response.statusCode == 200 else {
            let code: ExitCode = response.statusCode >= 500 ? .serverError : .clientError
            state.withLock {
                $0.failure = CommandFailure(
                    code,
                    "Cannot follow events of \(ShownAddress.text(plan.url)): the server answered \(response.statusCode). Events come with 200; follow a redirect with -L."
                )
            }
            return false
        }
        return true
    }

    /// Prints an event, and stores its ID and the delay that it sets.
    private func print(_ event: ServerSentEvent) throws {
        let id = Data(event.lastEventID.utf8)
        let isNewID = state.withLock { state -> Bool in
            let isNewID = state.lastID != id
            state.lastID = id
            state.eventCount += 1
            // The limits prevent a server from causing a busy loop or an endless wait.
            if let time = event.reconnectionTime { state.reconnectionDelay = min(max(time, 0.1), 600) }
            return isNewID
        }
        var writer = ProcessContext.ContentWriter(context.output)
        if context.output.isTerminal || invocation.pretty != nil {
            // An ID applies to all events until the next ID. An ID is printed only when it changes: otherwise a long ID would
            // multiply the output.
            let label = event.type + (isNewID && !event.lastEventID.isEmpty ? " \(event.lastEventID)" : "")
            // `message` is the type of an event that names none.
            if label != "message" { try writer.writeText(style.paint("[\(label)] ", .faint)) }
            try writer.writePainted(event.data, style)
        } else {
            try writer.writeContent(Data(event.data.utf8))
        }
        try writer.writeTrusted("\n")
        try writer.flush()
    }
}
