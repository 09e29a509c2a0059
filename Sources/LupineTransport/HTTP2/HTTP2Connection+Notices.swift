// SPDX-License-Identifier: MIT

import LupineHTTP2

/// What observers of transfers are told of the connection and its streams. Nothing is made where nobody observes.
extension HTTP2Connection {
    /// The transfer's request goes out on the stream.
    func tellOpened(_ stream: HTTP2Stream) {
        guard let observation = stream.exchange.observation else { return }
        observation.heard(.opened(stream: stream.id.rawValue))
        if machine.peerHasSet { observation.heard(HTTP2Notice(machine.peerSettings)) }
    }

    /// The server has set something.
    func tellSettings() {
        tellAll { _ in HTTP2Notice(machine.peerSettings) }
    }

    /// The content that waited for a window goes on: that of a stream, or of all where it was the connection's.
    func tellWindow(of id: StreamID) {
        if id.isConnection {
            tellAll { $0.isStalled ? windowOpened(of: $0) : nil }
        } else if let stream = streams[id], let notice = windowOpened(of: stream) {
            stream.exchange.observation?.heard(notice)
        }
    }

    /// The server takes no further requests.
    func tellGoAway(last: StreamID, _ code: HTTP2ErrorCode) {
        tellAll { _ in .goAway(last: last.rawValue, code) }
    }

    /// Nil while the other one of stream and connection is still closed.
    private func windowOpened(of stream: HTTP2Stream) -> HTTP2Notice? {
        let room = machine.sendRoom(of: stream.id)
        return room > 0 ? .windowOpened(octets: room) : nil
    }

    private func tellAll(_ notice: (HTTP2Stream) -> HTTP2Notice?) {
        for stream in streams.ordered {
            guard let observation = stream.exchange.observation, let notice = notice(stream) else { continue }
            observation.heard(notice)
        }
    }
}
