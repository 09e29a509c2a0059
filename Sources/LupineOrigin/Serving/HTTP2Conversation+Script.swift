// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineHTTP2
internal import LupineTransport

/// Streams that follow a script, while the other streams of the connection are answered.
extension HTTP2Conversation {
    /// Starts the script of a stream.
    func startScript(_ script: StreamScript, on stream: OriginStream, _ connection: ServerConnection) {
        stream.scriptProgress = StreamScriptProgress(script)
        // In this state `answer` has no effect: the script sends the response.
        stream.responseState = .streaming(nil)
        runScript(stream, connection)
    }

    /// Receives content on a stream that follows a script.
    func receiveContentForScript(
        _ octets: Span<UInt8>, on stream: OriginStream, _ connection: ServerConnection
    ) {
        stream.scriptProgress?.receivedContent.append(octets)
        if stream.scriptProgress?.withholdsWindowUpdates == true {
            stream.scriptProgress?.unconsumedOctets += octets.count
        } else {
            machine.consumed(octets.count, on: stream.id)
        }
        runScript(stream, connection)
    }

    /// Runs the steps of a stream's script until a step has to wait.
    func runScript(_ stream: OriginStream, _ connection: ServerConnection) {
        // A step may end the stream or the connection, or fall silent.
        while streams[stream.id] === stream, !isOver, !isSilent,
            let step = stream.scriptProgress?.currentStep
        {
            guard perform(step, on: stream, connection) else { return }
            stream.scriptProgress?.advance()
        }
        guard stream.scriptProgress?.currentStep == nil else { return }
        // The script is over. For the client, a stream that no step has ended stays open.
        stream.responseState = .sent
        removeIfEnded(stream)
    }

    /// Begins or continues a step. Returns false until the step has ended.
    private func perform(
        _ step: StreamScript.Step, on stream: OriginStream, _ connection: ServerConnection
    ) -> Bool {
        switch step {
        case .expectExactly(let content):
            guard case .ended = stream.requestState else { return false }
            if stream.scriptProgress?.receivedContent != content { reset(stream, .internalError) }
        case .expectContent(let count): return stream.scriptProgress?.receivedContent.count ?? 0 >= count
        case .withholdWindowUpdates: stream.scriptProgress?.withholdsWindowUpdates = true
        case .head(let fields, let endsStream): sendHead(fields, endsStream: endsStream, on: stream)
        case .content(let octets, _, let endsStream):
            return sendContent(octets, endsStream: endsStream, on: stream)
        case .reset(let code): reset(stream, code)
        case .set(let changes): changeSettings(changes, connection)
        case .shutDown(let sendsTwoGoAways):
            guard sendsTwoGoAways else {
                machine.shutDown()
                return true
            }
            machine.announceShutdown()
            // The final GOAWAY is sent when the client has acknowledged this PING.
            machine.sendPing(0)
        case .goAway(let code, let lastStream):
            // Here and in the next two cases, the frames that the machine has already written are sent first.
            machine.takeOutput(into: &connection.output)
            FrameWriter.goAway(last: streamID(of: lastStream, stream), code, into: &connection.output)
        case .frame(let type, let flags, let target, let payload):
            machine.takeOutput(into: &connection.output)
            FrameWriter.header(
                FrameType(rawValue: type), length: payload.count, flags: FrameFlags(rawValue: flags),
                streamID(of: target, stream), into: &connection.output)
            connection.output += payload
        case .octets(let octets):
            machine.takeOutput(into: &connection.output)
            connection.output += octets
        case .pause(let duration):
            // Other events of the stream run the script too; the pause must not begin again.
            if stream.scriptProgress?.hasStepBegun == true { return false }
            stream.scriptProgress?.hasStepBegun = true
            connection.call(after: duration, scriptResumption(stream, connection))
            return false
        case .waitForSignal(let name):
            wait(for: connection.service.gate(name), stream, connection)
            return false
        case .waitForGate(let gate):
            wait(for: gate, stream, connection)
            return false
        case .signal(let name): connection.service.gate(name).open()
        // `abandonScript` ends this step.
        case .expectReset: return false
        case .fallSilent: isSilent = true
        case .end(let resetting):
            machine.takeOutput(into: &connection.output)
            // Lingers: input that arrives later would cause a reset, which discards output that the client has not read.
            end(connection, lingering: !resetting)
            if resetting { connection.reset() }
        }
        return true
    }

    /// Sends a header list without validating it.
    private func sendHead(
        _ fields: [(name: String, value: String)], endsStream: Bool, on stream: OriginStream
    ) {
        var list = HeaderList()
        for field in fields { list.append(field.name, field.value) }
        // Fails if the stream has ended.
        do throws(HTTP2SendError) { try machine.send(list, on: stream.id, endsStream: endsStream) } catch {
            remove(stream)
        }
    }

    /// Begins or continues to send content. `StreamScriptProgress.maximumFrameSize` limits its frames. Returns whether all of the
    /// content, and the end of the stream, has been sent.
    private func sendContent(_ octets: [UInt8], endsStream: Bool, on stream: OriginStream) -> Bool {
        if stream.scriptProgress?.hasStepBegun == true {
            return stream.content.isEmpty && stream.trailers == nil
        }
        stream.scriptProgress?.hasStepBegun = true
        stream.content = octets
        stream.contentStart = 0
        // Empty trailers end the stream after the content.
        stream.trailers = endsStream ? Fields() : nil
        enqueue(stream)
        return octets.isEmpty && !endsStream
    }

    /// Resets and removes a stream.
    private func reset(_ stream: OriginStream, _ code: HTTP2ErrorCode) {
        machine.reset(stream.id, code)
        remove(stream)
    }

    /// Changes the connection's settings. Does nothing if a value is illegal, which is a mistake in the script.
    private func changeSettings(_ changes: [Setting], _ connection: ServerConnection) {
        var settings = machine.settings
        // A script runs after the server's first SETTINGS frame.
        let areLegal = (try? settings.apply(changes, from: .server, isFirst: false)) != nil
        guard areLegal else { return }
        machine.change(settings, at: .nanoseconds(connection.loop.now.nanoseconds))
    }

    /// Ends the script of a stream, because the client has reset the stream or the connection ends. If the current step is
    /// `expectReset`, the `signal` steps that directly follow are performed.
    func abandonScript(of stream: OriginStream, _ connection: ServerConnection) {
        guard case .expectReset? = stream.scriptProgress?.currentStep else { return }
        stream.scriptProgress?.advance()
        while case .signal(let name)? = stream.scriptProgress?.currentStep {
            connection.service.gate(name).open()
            stream.scriptProgress?.advance()
        }
    }

    /// Returns a closure that ends the current step and continues the script. The closure has weak references only.
    private func scriptResumption(_ stream: OriginStream, _ connection: ServerConnection) -> () -> Void {
        { [weak self, weak stream, weak connection] in
            guard let self, let stream, let connection, streams[stream.id] === stream else { return }
            stream.scriptProgress?.advance()
            runScript(stream, connection)
        }
    }

    /// Begins a step that ends when the gate is open. Has no effect if the step has already begun.
    private func wait(for gate: Gate, _ stream: OriginStream, _ connection: ServerConnection) {
        guard stream.scriptProgress?.hasStepBegun == false else { return }
        stream.scriptProgress?.hasStepBegun = true
        connection.call(when: gate, scriptResumption(stream, connection))
    }

    /// Returns the identifier of the stream to which a frame refers. `stream` is the script's own.
    private func streamID(of target: StreamScript.Target, _ stream: OriginStream) -> StreamID {
        switch target {
        case .own: stream.id
        // The identifiers of a client's streams are odd. The number may be any, so the arithmetic must not trap.
        case .ahead(let count): StreamID(stream.id.rawValue &+ 2 &* count)
        case .connection: .connection
        case .last: .largest
        case .before: StreamID(stream.id.rawValue < 2 ? 0 : stream.id.rawValue &- 2)
        }
    }
}
