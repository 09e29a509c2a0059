// SPDX-License-Identifier: MIT

import LupineHTTP

/// Requests to origins other than the one that the connection was opened for (RFC 9113 §9.1.1).
extension HTTP2Connection {
    /// Whether an exchange is for another host than the one that the connection was opened for.
    private func isForOtherOrigin(_ exchange: Exchange) -> Bool {
        exchange.origin.host != route.host && exchange.origin.unixPath == nil
    }

    /// Returns the error with the host of the exchange instead of the host that the connection was opened for.
    func attributed(_ error: TransportError, to exchange: Exchange) -> TransportError {
        isForOtherOrigin(exchange) ? error.replacingHost(with: exchange.origin.host) : error
    }

    /// Handles a 421 response: the server is not authoritative for the exchange's origin on this connection (RFC 9110
    /// §15.5.20). The exchange is sent again over a connection of its own origin. Returns false when the response is to be
    /// delivered instead.
    func resendMisdirected(_ stream: HTTP2Stream) -> Bool {
        let exchange = stream.exchange
        guard isForOtherOrigin(exchange), exchange.content.isReplayable,
            exchange.replays < ReplayRule.replayLimit
        else { return false }
        pool.requestMisdirected(to: exchange.origin)
        // The replay rule allows no replay after a response has begun. The 421 response does not count as a begun response.
        stream.metrics.responseStart = nil
        machine.reset(stream.id, .cancel)
        writeSoon()
        sendAgain(stream, http2Error(.refused))
        return true
    }
}

extension TransportError {
    /// Returns the same error with another host; an error that names no HTTP peer is returned unchanged.
    fileprivate func replacingHost(with host: String) -> TransportError {
        switch self {
        case .tls(_, let port, let error): .tls(host: host, port: port, error)
        case .connectionLost(_, let port, let error): .connectionLost(host: host, port: port, error)
        case .http(_, let port, let error): .http(host: host, port: port, error)
        case .http2(_, let port, let failure): .http2(host: host, port: port, failure)
        case .timedOut(_, let port, let timeout, let limit):
            .timedOut(host: host, port: port, timeout, after: limit)
        case .url, .resolution, .connect, .unreachable, .proxyResolution, .proxyUnreachable,
            .outOfDescriptors, .tunnel, .socks, .coding, .proxy, .content, .file, .system, .contentTooLong,
            .tooManyRedirects, .insecureRedirect, .redirect, .unsupported, .cancelled, .shutDown:
            self
        }
    }
}
