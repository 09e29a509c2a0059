// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin

@testable import LupineTransport

/// Builds the frames of a server for scripts; they may violate the protocol.
struct ServerFrames {
    private(set) var octets: [UInt8] = []
    private var encoder = HPACKEncoder()

    /// Begins with SETTINGS, and with the acknowledgement of the client's settings if the server has received them.
    init(_ settings: [Setting] = [], acknowledges: Bool = true) {
        FrameWriter.settings(settings, into: &octets)
        if acknowledges { FrameWriter.settingsAcknowledgement(into: &octets) }
    }

    /// Frames without the initial settings.
    static var bare: ServerFrames {
        var frames = ServerFrames()
        frames.octets = []
        return frames
    }

    /// Adds a head: a status, and fields whose names are in lower case.
    func head(
        _ stream: UInt32 = 1, _ status: String = "200", _ fields: [(String, String)] = [], ends: Bool = false
    ) -> ServerFrames {
        headers(stream, [(":status", status)] + fields, ends: ends)
    }

    /// Adds HEADERS with any list.
    func headers(_ stream: UInt32, _ fields: [(String, String)], ends: Bool = false) -> ServerFrames {
        adding { frames in
            var list = HeaderList()
            for (name, value) in fields { list.append(name, value) }
            var block: [UInt8] = []
            frames.encoder.encode(list, into: &block)
            FrameWriter.headers(
                StreamID(stream), block: block.span, endsStream: ends, maximumFrameSize: 16_384,
                into: &frames.octets)
        }
    }

    /// Adds DATA.
    func data(_ stream: UInt32 = 1, _ text: String, ends: Bool = false) -> ServerFrames {
        data(stream, Array(text.utf8), ends: ends)
    }

    /// Adds DATA.
    func data(_ stream: UInt32 = 1, _ content: [UInt8], ends: Bool = false) -> ServerFrames {
        adding { frames in
            FrameWriter.data(
                StreamID(stream), length: content.count, endsStream: ends, into: &frames.octets)
            frames.octets += content
        }
    }

    /// Adds a complete response.
    func reply(_ stream: UInt32 = 1, _ body: String = "ok") -> ServerFrames {
        head(stream, "200", [("content-length", "\(body.utf8.count)")]).data(stream, body, ends: true)
    }

    func reset(_ stream: UInt32 = 1, _ code: HTTP2ErrorCode) -> ServerFrames {
        adding { FrameWriter.reset(StreamID(stream), code, into: &$0.octets) }
    }

    func goAway(last: UInt32, _ code: HTTP2ErrorCode = .noError) -> ServerFrames {
        adding { FrameWriter.goAway(last: StreamID(last), code, into: &$0.octets) }
    }

    func settings(_ settings: [Setting] = []) -> ServerFrames {
        adding { FrameWriter.settings(settings, into: &$0.octets) }
    }

    func ping() -> ServerFrames {
        adding { FrameWriter.ping(7, isAcknowledgement: false, into: &$0.octets) }
    }

    /// Adds any frame, legal or not.
    func frame(_ type: UInt8, flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: [UInt8] = []) -> ServerFrames
    {
        adding { frames in
            let count = payload.count
            frames.octets += [
                UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255), type, flags,
                UInt8(stream >> 24), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255),
            ]
            frames.octets += payload
        }
    }

    /// Adds octets that are not a frame.
    func raw(_ more: [UInt8]) -> ServerFrames { adding { $0.octets += more } }

    /// Adds the frames of `part` `count` times. They must not contain a header block, which depends on those before it.
    func times(_ count: Int, _ part: (ServerFrames) -> ServerFrames) -> ServerFrames {
        let octetsOfPart = part(.bare).octets
        return adding { frames in
            for _ in 0..<count { frames.octets += octetsOfPart }
        }
    }

    private func adding(_ change: (inout ServerFrames) -> Void) -> ServerFrames {
        var frames = self
        change(&frames)
        return frames
    }
}

extension Script.Step {
    /// Waits for a request on `stream`.
    static func expectRequest(_ stream: UInt32) -> Script.Step { .expectFrame(type: 1, stream: stream) }

    /// Waits until the client has acknowledged settings that were sent after its request. Closing a socket with unread octets
    /// would discard what the client has not read yet.
    static var expectAcknowledgement: Script.Step { .expectFrame(type: 4, stream: 0) }

    /// Sends frames.
    static func send(_ frames: ServerFrames) -> Script.Step { .send(frames.octets) }
}
