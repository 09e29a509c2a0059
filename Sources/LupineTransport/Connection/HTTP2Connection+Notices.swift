// SPDX-License-Identifier: MIT

import LupineHTTP2

/// Reports events of the connection and its streams to the transfer observers of the program. Without an observer, no notice is
/// created.
extension HTTP2Connection {
    /// Reports that a request is sent on the stream, and the peer's settings if they are known.
    func notifyOpened(_ stream: HTTP2Stream) {
        guard let observation = stream.exchange.observation else { return }
        observation.reportNotice(.opened(stream: stream.id.rawValue))
        if machine.hasPeerSettings { observation.reportNotice(HTTP2Notice(machine.peerSettings)) }
    }

    /// Reports the server's settings.
    func notifySettings() {
        notifyAll { _ in HTTP2Notice(machine.peerSettings) }
    }

    /// Reports that a flow-control window has grown, so that content can be sent again: the content of one stream or, if `id` is
    /// the connection, of all stalled streams.
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

    /// Returns the notice for a stream that may send again. Returns nil while one of the two windows that limit the stream, its
    /// own and the connection's, is still closed.
    private func windowOpened(of stream: HTTP2Stream) -> HTTP2Notice? {
        let room = machine.sendRoom(of: stream.id)
        return room > 0 ? .windowOpened(octets: room) : nil
    }

    /// Reports a notice to the observer of each stream for which `notice` returns one.
    private func notifyAll(_ notice: (HTTP2Stream) -> HTTP2Notice?) {
        for stream in streams.ordered {
            guard let observation = stream.exchange.observation, let notice = notice(stream) else { continue }
            observation.reportNotice(notice)
        }
    }
}
