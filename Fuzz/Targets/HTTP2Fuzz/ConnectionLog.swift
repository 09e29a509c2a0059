// SPDX-License-Identifier: MIT

import FuzzKit
import LupineHTTP
import LupineHTTP2

/// The events and the output of a connection machine during steps: a line for each event and for each send error. It also checks
/// the invariants of the machine alone.
struct ConnectionLog {
    private var machine: HTTP2Machine
    private let role: HTTP2Role
    private var now = Duration.zero
    private var lines: [String] = []
    /// Content of one stream that arrived without other events in between.
    private var content: (stream: StreamID, count: Int)?
    /// The number of delivered octets of content that the owner has not consumed.
    private var unconsumed: [StreamID: Int] = [:]
    private var sent: [UInt8] = []

    /// Creates a machine; some choices set small limits, so that they are reached.
    init(_ role: HTTP2Role, _ choice: UInt8) {
        self.role = role
        var limits = HTTP2Limits()
        var settings = HTTP2Machine.defaultSettings
        if choice & 16 != 0 {
            limits.rememberedStreams = 2
            limits.lists.listOctets = 300
            limits.waitingOctets = 200
            limits.pings = Allowance(atOnce: 3, perSecond: 1)
            settings.maxConcurrentStreams = 3
            settings.initialWindowSize = 300
        }
        machine = HTTP2Machine(role, settings: settings, window: 100_000, limits: limits, at: .zero)
        for _ in 0..<(choice >> 5) { open(endsStream: false) }
    }

    consuming func run(_ steps: [ConnectionStep], _ cuts: Cuts) -> Transcript {
        for step in steps where machine.error == nil {
            perform(step, cuts)
            requireSums()
            require(machine.streamCount <= 256, "\(machine.streamCount) streams are open")
            require(machine.headerTableSizes.encoder <= 4_096, "the encoder's table is too large")
            require(machine.headerTableSizes.decoder <= 4_096, "the decoder's table is too large")
        }
        endContent()
        // The machine keeps no ended streams: it can reset all its streams.
        for stream in machine.openStreams where machine.error == nil { machine.reset(stream, .cancel) }
        require(machine.error != nil || machine.streamCount == 0, "streams are kept that are over")
        flush()
        requireFrames()
        return Transcript(lines: lines, sent: sent)
    }

    /// Requires that the target of the connection's window is the sum of the octets that may still arrive, of the pending
    /// increment, and of the octets that have not been consumed.
    private func requireSums() {
        guard machine.error == nil, machine.isBetweenFrames else { return }
        let sum = machine.receiveRoom + machine.pendingWindowIncrement + unconsumed.values.reduce(0, +)
        require(sum == machine.windowTarget, "\(sum) of \(machine.windowTarget) octets are accounted for")
    }

    private mutating func perform(_ step: ConnectionStep, _ cuts: Cuts) {
        switch step {
        case .wire(let octets):
            for piece in cuts.pieces(of: octets) where machine.error == nil { receive(piece) }
            // The owner's next step must not be in the middle of a run of content.
            endContent()
        case .consume:
            for (stream, count) in unconsumed.sorted(by: { $0.key < $1.key }) {
                machine.consumed(count, on: stream)
            }
            unconsumed = [:]
        case .flush: flush()
        case .time(let milliseconds): now += .milliseconds(milliseconds)
        case .open(let endsStream): open(endsStream: endsStream)
        case .answer(let stream, let endsStream):
            var list = HeaderList()
            if role == .server {
                list.append(":status", endsStream ? "200" : "103")
            } else {
                list.append("a", "b")
            }
            do throws(HTTP2SendError) {
                try machine.send(list, on: StreamID(stream), endsStream: endsStream)
            } catch { lines.append("\(error)") }
        case .content(let stream, let count, let endsStream):
            do throws(HTTP2SendError) {
                let sentCount = try machine.sendContent(
                    count, on: StreamID(stream), endsStream: endsStream, into: &sent)
                require(sentCount <= count, "more content than there is")
                sent += [UInt8](repeating: 0, count: sentCount)
            } catch { lines.append("\(error)") }
        case .reset(let stream): machine.reset(StreamID(stream), .cancel)
        case .settings(let choice):
            var settings = machine.settings
            settings.initialWindowSize = choice << 8
            settings.headerTableSize = choice << 4
            settings.maxFrameSize = 16_384 + choice
            machine.change(settings, at: now)
        case .enlargeWindow(let stream):
            if stream == 0 { machine.raiseWindow(to: 200_000) }
            machine.raiseWindow(of: StreamID(stream), to: 100_000)
        case .announceShutdown: machine.announceShutdown()
        case .shutDown: machine.shutDown()
        }
    }

    // MARK: the peer

    /// Passes octets of the peer to the machine, and logs its events.
    private mutating func receive(_ piece: [UInt8]) {
        var remaining = piece[...]
        while true {
            do throws(HTTP2ConnectionError) {
                let (event, consumed) = try machine.next(remaining.span, at: now)
                log(event, count: remaining.count)
                remaining = remaining.dropFirst(consumed)
                if event == .needMore { return require(remaining.isEmpty, "octets left over with needMore") }
            } catch {
                endContent()
                lines.append("\(error.code): \(error)")
                return requireSameErrorAgain(error)
            }
        }
    }

    /// Logs an event; content of one stream without other events in between is one line.
    private mutating func log(_ event: HTTP2Event, count: Int) {
        switch event {
        case .needMore: return
        case .content(let stream, let range):
            require(range.lowerBound >= 0 && range.upperBound <= count && !range.isEmpty, "content \(range)")
            if content?.stream != stream { endContent() }
            content = (stream, (content?.count ?? 0) + range.count)
            unconsumed[stream, default: 0] += range.count
        default:
            endContent()
            lines.append("\(event)")
        }
    }

    private mutating func endContent() {
        if let (stream, count) = content { lines.append("content \(stream) of \(count)") }
        content = nil
    }

    /// Requires that a machine that has thrown an error throws the same error again.
    private mutating func requireSameErrorAgain(_ error: HTTP2ConnectionError) {
        let more: [UInt8] = [0]
        do throws(HTTP2ConnectionError) {
            _ = try machine.next(more.span, at: now)
            require(false, "a broken machine goes on")
        } catch let again {
            require(again == error, "another error: \(again)")
        }
    }

    // MARK: the owner

    /// Opens a stream with a request.
    private mutating func open(endsStream: Bool) {
        var list = HeaderList()
        for (name, value) in [(":method", "GET"), (":scheme", "http"), (":authority", "a"), (":path", "/")] {
            list.append(name, value)
        }
        do throws(HTTP2SendError) {
            _ = try machine.open(list, method: .get, endsStream: endsStream)
        } catch { lines.append("\(error)") }
    }

    private mutating func flush() { machine.takeOutput(into: &sent) }

    /// Requires that a reader of the other role accepts everything that was sent.
    private func requireFrames() {
        var reader = FrameReader(role == .client ? .server : .client)
        reader.maximumFrameSize = 0xFF_FFFF
        var remaining = sent[...]
        while true {
            do throws(HTTP2Error) {
                let (event, consumed) = try reader.next(remaining.span)
                remaining = remaining.dropFirst(consumed)
                if case .streamError(_, let error) = event {
                    require(false, "a wrong frame was sent: \(error)")
                }
                if event == .needMore { return require(reader.isBetweenFrames, "half a frame was sent") }
            } catch {
                require(false, "something else than frames was sent: \(error)")
            }
        }
    }
}
