// SPDX-License-Identifier: MIT

import LupineHTTP2

/// Notifies transfer observers of events of the connection and its streams. No notice is created without an observer.
extension HTTP2Connection {
    /// Reports that the transfer's request is sent on the stream.
    func notifyOpened(_ stream: HTTP2Stream) {
        guard let observation = stream.exchange.observation else { return }
        observation.reportNotice(.opened(stream: stream.id.rawValue))
        if machine.hasPeerSettings { observation.reportNotice(HTTP2Notice(machine.peerSettings)) }
    }

    /// Reports the server's settings.
    func notifySettings() {
        notifyAll { _ in HTTP2Notice(machine.peerSettings) }
    }

    /// Reports that content blocked by a window continues: of one stream, or of all stalled streams for the connection's
    /// window.
    func notifyWindow(of id: StreamID) {
        if id.isConnection {
            notifyAll { $0.isStalled ? windowOpened(of: $0) : nil }
        } else if let stream = streams[id], let notice = windowOpened(of: stream) {
            stream.exchange.observation?.reportNotice(notice)
        }
    }

    /// Reports the server's GOAWAY.
    func notifyGoAway(last: StreamID, _ code: HTTP2ErrorCode) {
        notifyAll { _ in .goAway(last: last.rawValue, code) }
    }

    /// Returns nil while the other window, the stream's or the connection's, is still closed.
    private func windowOpened(of stream: HTTP2Stream) -> HTTP2Notice? {
        let room = machine.sendRoom(of: stream.id)
        return room > 0 ? .windowOpened(octets: room) : nil
    }

    private func notifyAll(_ notice: (HTTP2Stream) -> HTTP2Notice?) {
        for stream in streams.ordered {
            guard let observation = stream.exchange.observation, let notice = notice(stream) else { continue }
            observation.reportNotice(notice)
        }
    }
}
