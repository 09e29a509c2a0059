// SPDX-License-Identifier: MIT

internal import LupineHTTP2
internal import LupineTransport

/// Streams that follow a script, while others are answered.
extension HTTP2Conversation {
    /// Starts a stream's script.
    func startScript(_ script: StreamScript, on stream: OriginStream, _ connection: ServerConnection) {
        stream.scriptProgress = StreamScriptProgress(script)
        stream.reply = .streaming(nil)
        runScript(stream, connection)
    }

    /// Handles content received on a stream that follows a script.
    func receiveScripted(_ octets: Span<UInt8>, on stream: OriginStream, _ connection: ServerConnection) {
        stream.scriptProgress?.received.append(octets)
        if stream.scriptProgress?.keepsContent == true {
            stream.scriptProgress?.unconsumed += octets.count
        } else {
            machine.consumed(octets.count, on: stream.id)
        }
        runScript(stream, connection)
    }

    /// Runs a stream's script as far as possible.
    func runScript(_ stream: OriginStream, _ connection: ServerConnection) {
        while streams[stream.id] === stream, !isOver, !isSilent, let step = stream.scriptProgress?.step {
            guard perform(step, on: stream, connection) else { return }
            stream.scriptProgress?.advance()
        }
        guard stream.scriptProgress?.step == nil else { return }
        stream.reply = .sent
        forgetIfEnded(stream)
    }

    /// Begins or continues a step. Returns false until the step has ended.
    private func perform(
        _ step: StreamScript.Step, on stream: OriginStream, _ connection: ServerConnection
    ) -> Bool {
        switch step {
        case .expectExactly(let content):
            guard case .ended = stream.intake else { return false }
            if stream.scriptProgress?.received != content { reset(stream, .internalError) }
        case .expectContent(let count): return stream.scriptProgress?.received.count ?? 0 >= count
        case .keepContent: stream.scriptProgress?.keepsContent = true
        case .head(let fields, let endsStream): sendHead(fields, endsStream: endsStream, on: stream)
        case .content(let octets, _, let endsStream):
            return sendContent(octets, endsStream: endsStream, on: stream)
        case .reset(let code): reset(stream, code)
        case .set(let changes): change(changes, connection)
        case .shutDown(let inSteps):
            guard inSteps else {
                machine.shutDown()
                return true
            }
            machine.announceShutdown()
            machine.sendPing(0)
        case .goAway(let code, let last):
            machine.takeOutput(into: &connection.output)
            FrameWriter.goAway(last: streamID(of: last, stream), code, into: &connection.output)
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
            if stream.scriptProgress?.hasBegun == true { return false }
            stream.scriptProgress?.hasBegun = true
            connection.call(after: duration, scriptResumption(stream, connection))
            return false
        case .waitForSignal(let name):
            wait(for: connection.service.gate(name), stream, connection)
            return false
        case .waitForGate(let gate):
            wait(for: gate, stream, connection)
            return false
        case .signal(let name): connection.service.gate(name).open()
        case .expectReset: return false
        case .fallSilent: isSilent = true
        case .end(let resetting):
            machine.takeOutput(into: &connection.output)
            // Lingers, so that input which arrives meanwhile does not cause a reset, which would discard unread output.
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
        do throws(HTTP2SendError) { try machine.send(list, on: stream.id, endsStream: endsStream) } catch {
            forget(stream)
        }
    }

    /// Begins or continues to send content. Returns whether all of it has been sent.
    private func sendContent(_ octets: [UInt8], endsStream: Bool, on stream: OriginStream) -> Bool {
        if stream.scriptProgress?.hasBegun == true {
            return stream.content.isEmpty && stream.trailers == nil
        }
        stream.scriptProgress?.hasBegun = true
        stream.content = octets
        stream.contentStart = 0
        stream.trailers = endsStream ? .init() : nil
        enqueue(stream)
        return octets.isEmpty && !endsStream
    }

    /// Resets and removes a stream.
    private func reset(_ stream: OriginStream, _ code: HTTP2ErrorCode) {
        machine.reset(stream.id, code)
        forget(stream)
    }

    /// Changes the connection's settings. An illegal value is a mistake of the script, and is not announced.
    private func change(_ changes: [Setting], _ connection: ServerConnection) {
        var settings = machine.settings
        guard (try? settings.apply(changes, from: .server, isFirst: false)) != nil else { return }
        machine.change(settings, at: .nanoseconds(connection.loop.now.nanoseconds))
    }

    /// Called when the client has reset a stream or the connection ends. If the stream's script waits for that, the `signal`
    /// steps that directly follow are still performed; all other steps are not.
    func abandonScript(of stream: OriginStream, _ connection: ServerConnection) {
        guard case .expectReset? = stream.scriptProgress?.step else { return }
        stream.scriptProgress?.advance()
        while case .signal(let name)? = stream.scriptProgress?.step {
            connection.service.gate(name).open()
            stream.scriptProgress?.advance()
        }
    }

    /// Returns a closure that ends the current step and continues the script. The closure holds weak references only.
    private func scriptResumption(_ stream: OriginStream, _ connection: ServerConnection) -> () -> Void {
        { [weak self, weak stream, weak connection] in
            guard let self, let stream, let connection, streams[stream.id] === stream else { return }
            stream.scriptProgress?.advance()
            runScript(stream, connection)
        }
    }

    /// Begins a step that ends when the gate opens.
    private func wait(for gate: Gate, _ stream: OriginStream, _ connection: ServerConnection) {
        guard stream.scriptProgress?.hasBegun == false else { return }
        stream.scriptProgress?.hasBegun = true
        connection.call(when: gate, scriptResumption(stream, connection))
    }

    private func streamID(of target: StreamScript.Target, _ stream: OriginStream) -> StreamID {
        switch target {
        case .own: stream.id
        case .ahead(let count): StreamID(stream.id.rawValue &+ 2 &* count)
        case .connection: .connection
        case .last: .largest
        case .before: StreamID(stream.id.rawValue < 2 ? 0 : stream.id.rawValue &- 2)
        }
    }
}
