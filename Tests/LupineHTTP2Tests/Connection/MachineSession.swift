// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2

/// A connection machine with a log of its events and output.
struct MachineSession {
    var machine: HTTP2Machine
    var now = Duration.zero
    /// Whether content is consumed as soon as it arrives.
    var consumes = false
    /// One line for each event; consecutive content of one stream shares a line.
    private(set) var lines: [String] = []
    private var content: (stream: StreamID, octets: [UInt8])?
    private var reader: FrameReader
    private var decoder = HPACKDecoder()

    init(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Machine.defaultSettings,
        window: Int = FlowWindow.initial, limits: HTTP2Limits = HTTP2Limits()
    ) {
        machine = HTTP2Machine(role, settings: settings, window: window, limits: limits, at: .zero)
        reader = FrameReader(role == .client ? .server : .client)
        reader.maximumFrameSize = 1 << 20
    }

    /// Returns a session in which both ends have sent and acknowledged their settings. A client has then opened `gets` streams
    /// whose requests are complete, and `posts` streams whose content is still to be sent.
    static func opened(
        _ role: HTTP2Role, settings: HTTP2Settings = HTTP2Machine.defaultSettings,
        window: Int = FlowWindow.initial, limits: HTTP2Limits = HTTP2Limits(), gets: Int = 0, posts: Int = 0
    ) -> MachineSession {
        var session = MachineSession(role, settings: settings, window: window, limits: limits)
        session.receive(WireFrames.opening(to: role) + WireFrames.frame(4, 1))
        for index in 0..<(gets + posts) {
            let isGet = index < gets
            _ = try? session.machine.open(
                session.list([
                    (":method", isGet ? "GET" : "POST"), (":scheme", "http"), (":authority", "a"),
                    (":path", "/"),
                ]), method: isGet ? .get : .post, endsStream: isGet)
        }
        _ = session.sent()
        _ = session.takeLines()
        return session
    }

    func list(_ fields: [(String, String)]) -> HeaderList {
        var list = HeaderList()
        for (name, value) in fields { list.append(name, value) }
        return list
    }

    /// Opens a client's stream whose content follows.
    mutating func openPost() {
        _ = try? machine.open(list(WireFrames.postFields), method: .post, endsStream: false)
    }

    // MARK: input

    /// Passes octets to the machine and logs its events, and its error if it throws one.
    mutating func receive(_ octets: [UInt8]) {
        var unread = octets[...]
        while true {
            let event: HTTP2Event
            let consumed: Int
            do throws(HTTP2ConnectionError) {
                (event, consumed) = try machine.next(unread.span, at: now)
            } catch {
                endContent()
                return lines.append("\(error.code): \(error)")
            }
            if case .content(let stream, let range) = event {
                if content?.stream != stream { endContent() }
                if content == nil { content = (stream, []) }
                content?.octets += unread.dropFirst(range.lowerBound).prefix(range.count)
                if consumes { machine.consumed(range.count, on: stream) }
            }
            unread = unread.dropFirst(consumed)
            if event == .needMore {
                return unread.isEmpty ? () : lines.append("\(unread.count) octets were left")
            }
            if let line = Self.text(of: event) {
                endContent()
                lines.append(line)
            }
        }
    }

    /// Returns the lines logged since the last call.
    mutating func takeLines() -> [String] {
        endContent()
        defer { lines = [] }
        return lines
    }

    /// Logs the content collected so far as one line.
    private mutating func endContent() {
        guard let (stream, octets) = content else { return }
        content = nil
        lines.append("content \(stream) " + Self.text(of: octets))
    }

    private static func text(of event: HTTP2Event) -> String? {
        switch event {
        case .needMore, .content: nil
        case .request(let stream, let request):
            "request \(stream) \(request.head.method) \(request.head.target)"
        case .interim(let stream, let head): "interim \(stream) \(head.status.code)"
        case .response(let stream, let head): "response \(stream) \(head.status.code)"
        case .end(let stream, let trailers):
            "end \(stream)" + (trailers.isEmpty ? "" : " \(trailers.count) trailers")
        case .reset(let stream, let code): "reset \(stream) \(code)"
        case .failed(let stream, let error): "failed \(stream) \(error.code): \(error)"
        case .refused(let stream): "refused \(stream)"
        case .windowOpened(let stream): "window \(stream) opened"
        case .settings: "settings"
        case .settingsAcknowledged: "settings acknowledged"
        case .pong(let octets): "pong \(octets)"
        case .goAway(let last, let code, let debug): "goaway \(last) \(code) \(text(of: debug))"
        case .priority(let stream, let value): "priority \(stream) \(text(of: value))"
        }
    }

    private static func text(of octets: [UInt8]) -> String {
        octets.count > 40 ? "of \(octets.count)" : "'\(Octets.text(octets))'"
    }

    // MARK: output

    /// Takes the octets that the machine has to send.
    mutating func takeOutput() -> [UInt8] {
        var octets: [UInt8] = []
        machine.takeOutput(into: &octets)
        return octets
    }

    /// Takes the frames that the machine has to send, as one line each.
    mutating func sent() -> [String] { frameLines(takeOutput()) }

    /// Sends as much content as the windows allow, and returns the frames that were sent.
    mutating func send(_ content: [UInt8], on stream: UInt32, endsStream: Bool = false) throws -> [String] {
        var output: [UInt8] = []
        let count = try machine.sendContent(
            content.count, on: StreamID(stream), endsStream: endsStream, into: &output)
        return frameLines(output + content.prefix(count))
    }

    /// Returns one line for each frame in `octets`, which the machine has sent.
    mutating func frameLines(_ octets: [UInt8]) -> [String] {
        var lines: [String] = []
        var unread = octets[...]
        while true {
            guard let (event, consumed) = try? reader.next(unread.span) else { return lines + ["not frames"] }
            unread = unread.dropFirst(consumed)
            switch event {
            case .needMore: return lines
            case .dataBegan(let stream, let count): lines.append("sent DATA \(stream) of \(count)")
            case .content: continue
            case .dataEnded(_, let endsStream): if endsStream { lines[lines.count - 1] += ", end" }
            case .headers(let stream, let block, let endsStream):
                lines.append("sent HEADERS \(stream) \(fields(block))" + (endsStream ? ", end" : ""))
            case .reset(let stream, let code): lines.append("sent RST_STREAM \(stream) \(code)")
            case .settings(let settings):
                lines.append(
                    "sent SETTINGS " + settings.map { "\($0.identifier)=\($0.value)" }.joined(separator: " "))
            case .settingsAcknowledged: lines.append("sent SETTINGS ack")
            case .ping(let octets): lines.append("sent PING \(octets)")
            case .pingAcknowledged(let octets): lines.append("sent PING \(octets) ack")
            case .goAway(let last, let code, _): lines.append("sent GOAWAY \(last) \(code)")
            case .windowUpdate(let stream, let increment):
                lines.append("sent WINDOW_UPDATE \(stream) +\(increment)")
            case .priorityUpdate(let stream, let value):
                lines.append("sent PRIORITY_UPDATE \(stream) \(Self.text(of: value))")
            case .pushPromise, .priority, .ignored, .streamError: lines.append("sent \(event)")
            }
        }
    }

    private mutating func fields(_ block: [UInt8]) -> String {
        guard let list = try? decoder.decode(block.span) else { return "that cannot be decoded" }
        return list.indices.map { position in
            Octets.text(list.octets[list.nameRange(at: position)]) + "="
                + Octets.text(list.octets[list.valueRange(at: position)])
        }.joined(separator: " ")
    }
}
