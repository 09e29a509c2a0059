// SPDX-License-Identifier: MIT

public import LupineCoding
public import LupineHTTP
public import LupineTLS

/// Why the transport could not do what it was asked: the one error of this module.
///
/// Each case says at which step it happened and carries the evidence of the layer below, never prose. The host of a Unix
/// socket is its path, and its port 0. A step of the
/// transport that can fail in a way of its own adds its case here, with a description and, where it carries another
/// error, that error as payload.
public enum TransportError: Error, Hashable, Sendable {
    /// The text is no URL that can be sent to.
    case url(TransportURLError)
    /// The host name gave no address.
    case resolution(host: String, ResolutionError)
    /// No connection to this address.
    case connect(to: SocketAddress, Errno)
    /// No connection to any address of the host, in the order they were tried.
    case unreachable(host: String, port: UInt16, [ConnectFailure])
    /// The name of the proxy gave no address.
    case proxyResolution(proxy: String, ResolutionError)
    /// No connection to any address of the proxy, in the order they were tried.
    case proxyUnreachable(proxy: String, [ConnectFailure])
    /// The process or the system has no descriptor left.
    case outOfDescriptors(Errno)
    /// An HTTP proxy opened no tunnel.
    case tunnel(proxy: String, TunnelError)
    /// A SOCKS5 proxy made no connection.
    case socks(proxy: String, SocksError)
    /// The connection to this origin or https proxy could not be secured, or is no longer.
    case tls(host: String, port: UInt16, TLSError)
    /// An established connection failed while reading or writing.
    case connectionLost(host: String, port: UInt16, Errno)
    /// What was sent or received is no HTTP/1.1, or was cut short.
    case http(host: String, port: UInt16, HTTPError)
    /// What was said over HTTP/2 is not valid, or the server has ended the request's stream or the connection.
    case http2(host: String, port: UInt16, HTTP2Failure)
    /// The content's coding is broken, not known, or expands beyond its limit.
    case coding(host: String, port: UInt16, CodingError)
    /// The text that names a proxy is none that can be used.
    case proxy(ProxyURLError)
    /// The source of the request's content failed; it says why.
    case content(String)
    /// The file that content is read from or written to failed.
    case file(Errno)
    /// A call into the kernel failed that has nothing to do with a peer.
    case system(Errno)
    /// A time-out passed: nothing came of this host for so long.
    case timedOut(host: String, port: UInt16, TransferTimeout, after: Duration)
    /// More content came than the caller wanted to collect.
    case contentTooLong(limit: Int)
    /// More redirects than allowed.
    case tooManyRedirects(limit: Int)
    /// A redirect leads from https to http on this host, which the configuration does not follow.
    case insecureRedirect(host: String, port: UInt16)
    /// A redirect leads nowhere that can be followed.
    case redirect(TransportURLError)
    /// The scheme needs what this build or client does not offer.
    case unsupported(String)
    /// The caller no longer wants it.
    case cancelled
    /// The client, or the event loop, was shut down.
    case shutDown
}

extension TransportError {
    /// The error for a socket that could not be made or connected: running out of descriptors is its own case,
    /// because giving up idle connections helps there and nowhere else.
    package init(connecting address: SocketAddress, _ error: Errno) {
        self = error.isOutOfDescriptors ? .outOfDescriptors(error) : .connect(to: address, error)
    }

    /// The error for event loops that could not be started.
    package init(startingLoops error: Errno) {
        self = error.isOutOfDescriptors ? .outOfDescriptors(error) : .system(error)
    }
}

extension Errno {
    /// Whether the process or the system has no descriptor left.
    var isOutOfDescriptors: Bool { self == .tooManyDescriptors || self == .tooManyDescriptorsInSystem }
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
    /// A time-out passed.
    init(host: String, port: UInt16, _ timeout: TransferTimeout, after time: Interval?) {
        self = .timedOut(host: host, port: port, timeout, after: .nanoseconds(time?.nanoseconds ?? 0))
    }

    /// A host and a port as an authority has them (RFC 3986 §3.2); the path of a Unix socket as it is.
    static func peer(_ host: String, _ port: UInt16) -> String {
        guard port != 0 else { return host }
        return host.utf8.contains(0x3A) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension TransferTimeout {
    /// What was done when the time ran out.
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

    /// What to try.
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
