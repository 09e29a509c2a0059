// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Lupine

/// A conversation over a web socket: sends each line of the standard input as a message, and prints the received messages. The
/// end of the input closes the connection. The input is read on a separate thread, since reading blocks.
final class SocketConversation: Sendable {
    private struct State {
        /// The exit code for a message that could not be printed; nil if there is none.
        var outputFailureCode: ExitCode?
        var isConnected = false
        /// Whether this side or the peer has begun to close the connection.
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

    /// Runs the conversation until the connection is closed or lost, and returns the exit code.
    func run() async -> ExitCode {
        // 64 MiB.
        let maximumMessageSize = 64 << 20
        let request = session.webSocketRequest(
            performing: plan.request, configuration: .maximumMessageSize(maximumMessageSize))
        let redirects = CommandRedirectHandler(plan.url, invocation)
        request.redirect(using: redirects)
        let listenerNumber = context.interruption.addListener {
            // `close` sends a close frame; `cancel` does not wait for the peer's answer.
            request.close(sending: .normalClosure)
            request.cancel()
        }
        defer { context.interruption.remove(listenerNumber) }
        let completion = await withCheckedContinuation { continuation in
            request.streamMessageEvents(on: queue) { event in
                switch event.kind {
                case .connected: self.startSending(through: request)
                case .receivedMessage(let message): self.receive(message, request)
                case .disconnected(let code, let reason): self.printClose(code, reason)
                // Messages are received as they are, without a serializer that could fail.
                case .serializerFailed: break
                case .completed(let completion): continuation.resume(returning: completion)
                }
            }
        }
        await WireReporter.suspendUntilEventsAreReported(of: session)
        if context.interruption.hasOccurred { return .interrupted }
        let (outputFailureCode, isConnected, isClosing) = state.withLock {
            ($0.outputFailureCode, $0.isConnected, $0.isClosing)
        }
        if let outputFailureCode { return outputFailureCode }
        // After one side has begun to close the connection, an error is no failure.
        let hasClosed = isConnected && isClosing
        guard let error = completion.error, !hasClosed else { return .success }
        let failure =
            redirects.failure ?? ErrorMessage.failure(of: error, url: plan.url, invocation: invocation)
        if !invocation.isSilent || invocation.showsErrors { context.errors.say("lupine: \(failure)\n") }
        return failure.code
    }

    /// Starts the thread that reads the input, once the connection is open.
    private func startSending(through request: WebSocketRequest) {
        state.withLock { $0.isConnected = true }
        if context.input.kind == .terminal, !invocation.isSilent {
            context.errors.say("\(style.paint("connected; Ctrl-D closes", .faint))\n")
        }
        Thread.detachNewThread { self.sendLines(through: request) }
    }

    /// Sends the lines of the input one after the other, then closes the connection. Blocks.
    private func sendLines(through request: WebSocketRequest) {
        // The bytes after the last line feed.
        var buffer = Data()
        func send(_ line: Data) {
            let text = String(decoding: line, as: UTF8.self)
            let sendCompleted = DispatchSemaphore(value: 0)
            // The result is ignored: if the connection is lost, `run` reports the failure.
            request.send(.string(text), queue: .global()) { _ in sendCompleted.signal() }
            sendCompleted.wait()
        }
        // `read` returns nil at the end of the input. An error also ends the input.
        while let bytes = try? context.input.read() {
            buffer.append(bytes)
            while let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[buffer.startIndex..<end]
                send(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
                buffer = Data(buffer[(end + 1)...])
            }
        }
        // The last line may lack its line feed.
        if !buffer.isEmpty { send(buffer) }
        state.withLock { $0.isClosing = true }
        // The peer may still have to answer these messages. The peer does so before it answers the close frame, so nothing waits
        // for its answers here.
        request.close(sending: .normalClosure)
    }

    /// Prints a message; cancels the request if the output fails.
    private func receive(_ message: URLSessionWebSocketTask.Message, _ request: WebSocketRequest) {
        do { try print(message) } catch {
            state.withLock { $0.outputFailureCode = .write }
            request.cancel()
        }
    }

    /// Prints a message: unchanged to a pipe, and filtered on a terminal, which the peer must not control.
    private func print(_ message: URLSessionWebSocketTask.Message) throws {
        let isTerminal = context.output.isTerminal
        var writer = ProcessContext.ContentWriter(context.output)
        switch message {
        case .string(let text):
            if isTerminal {
                try writer.writePainted(text, style)
            } else {
                try writer.writeContent(Data(text.utf8))
            }
            try writer.writeTrusted("\n")
        case .data(let bytes):
            if isTerminal {
                try writer.writeTrusted("(\(bytes.count) bytes)\n")
            } else {
                try writer.writeContent(bytes)
            }
        // The library has no other kind of message.
        @unknown default: return
        }
        try writer.flush()
    }

    /// Prints the close code and the reason. A normal close is printed only if the input is a terminal.
    private func printClose(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
        state.withLock { $0.isClosing = true }
        guard !invocation.isSilent, code != .normalClosure || context.input.kind == .terminal else {
            return
        }
        let reasonText = reason.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
        context.errors.say("lupine: closed with \(code.rawValue)\(reasonText)\n")
    }
}
