// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Lupine

/// A WebSocket session: each line of the standard input is sent as a message, received messages are printed. The end of the input
/// closes it. Lines are read on a separate thread, since reading blocks.
final class SocketConversation: Sendable {
    private struct State {
        var code: ExitCode?
        var isConnected = false
        var isClosing = false
    }

    private let plan: RequestPlan
    private let invocation: Invocation
    private let context: ProcessContext
    private let session: Session
    private let style: Style
    private let state = Guarded(State())
    private let queue = DispatchQueue(label: "lupine.socket")

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

    func run() async -> ExitCode {
        let request = session.webSocketRequest(
            performing: plan.request, configuration: .maximumMessageSize(64 << 20))
        let redirects = RedirectCounter(plan.url, invocation)
        request.redirect(using: redirects)
        let listener = context.interruption.listen {
            request.close(sending: .normalClosure)
            request.cancel()
        }
        defer { context.interruption.forget(listener) }
        let completion = await withCheckedContinuation { continuation in
            request.streamMessageEvents(on: queue) { event in
                switch event.kind {
                case .connected: self.connected(request)
                case .receivedMessage(let message): self.show(message, request)
                case .disconnected(let code, let reason): self.printEnd(code, reason)
                case .serializerFailed: break
                case .completed(let completion): continuation.resume(returning: completion)
                }
            }
        }
        await WireReporter.eventsReported(of: session)
        if context.interruption.hasCome { return .interrupted }
        let (code, isConnected, isClosing) = state.withLock { ($0.code, $0.isConnected, $0.isClosing) }
        if let code { return code }
        guard let error = completion.error, !(isConnected && isClosing) else { return .success }
        let failure =
            redirects.failure ?? ErrorMessage.failure(of: error, url: plan.url, invocation: invocation)
        if !invocation.isSilent || invocation.showsErrors { context.errors.say("lupine: \(failure)\n") }
        return failure.code
    }

    private func connected(_ request: WebSocketRequest) {
        state.withLock { $0.isConnected = true }
        if context.input.kind == .terminal, !invocation.isSilent {
            context.errors.say("\(style.paint("connected; Ctrl-D closes", .faint))\n")
        }
        Thread.detachNewThread { self.sendLines(through: request) }
    }

    private func sendLines(through request: WebSocketRequest) {
        var rest = Data()
        func send(_ line: Data) {
            let text = String(decoding: line, as: UTF8.self)
            let isSent = DispatchSemaphore(value: 0)
            request.send(.string(text), queue: .global()) { _ in isSent.signal() }
            isSent.wait()
        }
        while let piece = try? context.input.read() {
            rest.append(piece)
            while let end = rest.firstIndex(of: 0x0A) {
                let line = rest[rest.startIndex..<end]
                send(line.last == 0x0D ? line.dropLast() : line)
                rest = Data(rest[(end + 1)...])
            }
        }
        if !rest.isEmpty { send(rest) }
        state.withLock { $0.isClosing = true }
        // Responses to sent messages may still be on their way: the peer sends them before it answers the close.
        request.close(sending: .normalClosure)
    }

    private func show(_ message: URLSessionWebSocketTask.Message, _ request: WebSocketRequest) {
        do { try print(message) } catch {
            state.withLock { $0.code = .write }
            request.cancel()
        }
    }

    /// Prints a message unchanged into a pipe, and filtered on a terminal, so that the peer cannot control the terminal.
    private func print(_ message: URLSessionWebSocketTask.Message) throws {
        let isTerminal = context.output.isTerminal
        var writer = ProcessContext.ContentWriter(context.output)
        switch message {
        case .string(let text):
            if isTerminal { try writer.painted(text, style) } else { try writer.content(Data(text.utf8)) }
            try writer.trusted("\n")
        case .data(let bytes):
            if isTerminal {
                try writer.trusted("(\(bytes.count) bytes)\n")
            } else {
                try writer.content(bytes)
            }
        @unknown default: return
        }
        try writer.flush()
    }

    private func printEnd(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
        state.withLock { $0.isClosing = true }
        guard !invocation.isSilent, code != .normalClosure || context.input.kind == .terminal else {
            return
        }
        let why = reason.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
        context.errors.say("lupine: closed with \(code.rawValue)\(why)\n")
    }
}
