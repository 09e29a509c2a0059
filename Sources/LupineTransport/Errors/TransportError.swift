// SPDX-License-Identifier: MIT

public import LupineCoding
public import LupineHTTP
public import LupineTLS

/// The error with which requests of this module fail.
///
/// Each case names the step that failed, and carries the error of the layer below. For a Unix-domain socket, the host is the
/// socket's path and the port is 0. A new kind of failure gets a case here, with a description and, if there is an underlying
/// error, with that error as its payload.
public enum TransportError: Error, Hashable, Sendable {
    /// The text is not a URL that can be requested.
    case url(TransportURLError)
    /// The host name has no address.
    case resolution(host: String, ResolutionError)
    /// The connection to this address failed.
    case connect(to: SocketAddress, Errno)
    /// The connection to every address of the host failed. The failures are in the order of the attempts.
    case unreachable(host: String, port: UInt16, [ConnectFailure])
    /// The name of the proxy has no address.
    case proxyResolution(proxy: String, ResolutionError)
    /// The connection to every address of the proxy failed. The failures are in the order of the attempts.
    case proxyUnreachable(proxy: String, [ConnectFailure])
    /// The process or the system has no descriptor left.
    case outOfDescriptors(Errno)
    /// An HTTP proxy did not open the tunnel.
    case tunnel(proxy: String, TunnelError)
    /// A SOCKS5 proxy did not establish the connection.
    case socks(proxy: String, SocksError)
    /// The TLS handshake with this origin or https proxy failed, or TLS failed later.
    case tls(host: String, port: UInt16, TLSError)
    /// An established connection failed while reading or writing.
    case connectionLost(host: String, port: UInt16, Errno)
    /// A sent or received message is not valid HTTP/1.1, or was cut short.
    case http(host: String, port: UInt16, HTTPError)
    /// The HTTP/2 data is not valid, or the server has ended the request's stream or the connection.
    case http2(host: String, port: UInt16, HTTP2Failure)
    /// The content's coding is invalid, unknown, or expands beyond its limit.
    case coding(host: String, port: UInt16, CodingError)
    /// The text that names a proxy cannot be used.
    case proxy(ProxyURLError)
    /// The source of the request's content failed; the text says why.
    case content(String)
    /// Reading content from a file, or writing it to one, failed.
    case file(Errno)
    /// A system call failed that does not concern a peer.
    case system(Errno)
    /// A time-out expired: this host did not make the expected progress in that time.
    case timedOut(host: String, port: UInt16, TransferTimeout, after: Duration)
    /// The content is longer than the caller allowed.
    case contentTooLong(limit: Int)
    /// There were more redirects than the configuration allows.
    case tooManyRedirects(limit: Int)
    /// A redirect leads from https to http on this host, and the configuration does not follow it.
    case insecureRedirect(host: String, port: UInt16)
    /// The target of a redirect cannot be requested.
    case redirect(TransportURLError)
    /// The request needs a feature that this build or client does not have.
    case unsupported(String)
    /// The caller cancelled the request.
    case cancelled
    /// The client, or the event loop, was shut down.
    case shutDown
}

extension TransportError {
    /// Creates the error of a socket that could not be created or connected. Running out of descriptors is a separate case,
    /// because the pool can close idle connections and then try again.
    package init(connecting address: SocketAddress, _ error: Errno) {
        self = error.isOutOfDescriptors ? .outOfDescriptors(error) : .connect(to: address, error)
    }

    /// Creates the error of event loops that could not be started.
    package init(startingLoops error: Errno) {
        self = error.isOutOfDescriptors ? .outOfDescriptors(error) : .system(error)
    }
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .url(let error): "cannot send to this URL: \(error)"
        case .resolution(let host, let error): "cannot resolve \(host): \(error)"
        case .connect(let address, let error):
            ConnectFailure.describe([ConnectFailure(address: address, error: error)], of: "\(address)")
        case .unreachable(let host, let port, let failures):
            ConnectFailure.describe(failures, of: Self.peer(host, port))
        case .proxyResolution(let proxy, let error): "cannot resolve the name of the proxy \(proxy): \(error)"
        case .proxyUnreachable(let proxy, let failures):
            ConnectFailure.describe(failures, of: "the proxy \(proxy)")
        case .outOfDescriptors(let error):
            "no descriptor left for a connection: \(error); raise the limit (ulimit -n)"
        case .tunnel(let proxy, let error): "the proxy \(proxy) opened no tunnel: \(error)"
        case .socks(let proxy, let error): "the SOCKS proxy \(proxy) made no connection: \(error)"
        case .tls(let host, let port, let error): Self.describe(error, of: host, port)
        case .connectionLost(let host, let port, let error):
            "the connection to \(Self.peer(host, port)) was lost: \(error)"
        case .http(let host, let port, let error): "HTTP with \(Self.peer(host, port)): \(error)"
        case .http2(let host, let port, let error): "HTTP/2 with \(Self.peer(host, port)): \(error)"
        case .coding(let host, let port, let error):
            "the content from \(Self.peer(host, port)) cannot be decoded: \(error)"
        case .proxy(let error): "cannot use this proxy: \(error)"
        case .content(let reason): "the content to send could not be read: \(reason)"
        case .file(let error): "the file could not be read or written: \(error)"
        case .system(let error): "a system call failed: \(error)"
        case .timedOut(let host, let port, let timeout, let time):
            "timed out after \(Interval(time)) \(timeout.step(of: Self.peer(host, port))); \(timeout.advice)"
        case .contentTooLong(let limit):
            "the content is longer than \(limit) bytes, the most that was to be collected: collect more of it (upTo:), or take it "
                + "piece by piece"
        case .tooManyRedirects(let limit): "more than \(limit) redirects"
        case .insecureRedirect(let host, let port):
            "a redirect from https to http on \(Self.peer(host, port)) is not followed"
        case .redirect(let error): "a redirect that cannot be followed: \(error)"
        case .unsupported(let what): "not supported: \(what)"
        case .cancelled: "cancelled"
        case .shutDown: "the client was shut down"
        }
    }
}

extension TransportError {
    /// Creates the error of an expired time-out.
    init(host: String, port: UInt16, _ timeout: TransferTimeout, after time: Interval?) {
        self = .timedOut(host: host, port: port, timeout, after: .nanoseconds(time?.nanoseconds ?? 0))
    }

    /// Returns a host and a port in the syntax of an authority (RFC 3986 §3.2). The path of a Unix-domain socket, for which the
    /// port is 0, is returned unchanged.
    static func peer(_ host: String, _ port: UInt16) -> String {
        guard port != 0 else { return host }
        // Only an IPv6 address contains a colon (0x3A).
        return host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension TransferTimeout {
    /// Returns a text for the step during which the time-out expired.
    fileprivate func step(of host: String) -> String {
        switch self {
        case .connect: "while connecting to \(host)"
        case .tlsHandshake: "in the TLS handshake with \(host)"
        case .firstByte: "waiting for the first byte of the response from \(host)"
        case .idleRead: "waiting for more of the response from \(host)"
        case .idleWrite: "waiting to send more of the request to \(host)"
        case .idle: "without a byte to or from \(host)"
        case .whole: "before the exchange with \(host) was complete"
        }
    }

    /// Advice for the user whose request timed out.
    fileprivate var advice: String {
        switch self {
        case .connect: "see whether the port is right and no firewall drops what is sent there"
        case .tlsHandshake: "see whether the port speaks TLS"
        case .firstByte, .idleRead, .idleWrite, .idle, .whole:
            "if the server may take longer, raise the time-out"
        }
    }
}

extension TransferTimeout: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connect: "while connecting"
        case .tlsHandshake: "in the TLS handshake"
        case .firstByte: "waiting for the first byte of the response"
        case .idleRead: "waiting for more of the response"
        case .idleWrite: "waiting to send more of the request"
        case .idle: "waiting for anything to move"
        case .whole: "before the exchange was complete"
        }
    }
}
