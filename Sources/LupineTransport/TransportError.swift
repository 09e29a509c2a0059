// SPDX-License-Identifier: MIT

/// Why the transport could not do what it was asked: the one error of this module.
///
/// Each case says at which step it happened and carries the evidence of the layer below, never prose. A
/// step of the transport that can fail in a way of its own adds its case here, with a description and,
/// where it carries another error, that error as payload.
public enum TransportError: Error, Hashable, Sendable {
    /// The host name gave no address.
    case resolution(host: String, ResolutionError)
    /// No connection to this address.
    case connect(to: SocketAddress, Errno)
    /// The process or the system has no descriptor left.
    case outOfDescriptors(Errno)
    /// An established connection failed while reading or writing.
    case connectionLost(Errno)
    /// A call into the kernel failed that has nothing to do with a peer.
    case system(Errno)
    /// A deadline passed.
    case timedOut(TransportStep)
    /// The caller no longer wants it.
    case cancelled
    /// The client, or the event loop, was shut down.
    case shutDown
}

/// A step that has a time-out of its own.
public enum TransportStep: Hashable, Sendable {
    /// Finding addresses and connecting.
    case connect
    /// The TLS handshake.
    case tls
    /// From the end of the request to the first byte of the response.
    case firstByte
    /// Between two bytes received.
    case idleReceiving
    /// Between two bytes sent.
    case idleSending
    /// The exchange as a whole.
    case exchange
}

extension TransportError {
    /// The error for a socket that could not be made or connected: running out of descriptors is its own
    /// case, because giving up idle connections helps there and nowhere else.
    package init(connecting address: SocketAddress, _ error: Errno) {
        switch error {
        case .tooManyDescriptors, .tooManyDescriptorsInSystem: self = .outOfDescriptors(error)
        default: self = .connect(to: address, error)
        }
    }
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .resolution(let host, let error): "cannot resolve \(host): \(error)"
        case .connect(let address, let error): "cannot connect to \(address): \(error)"
        case .outOfDescriptors(let error):
            "no descriptor left for a connection: \(error); raise the limit (ulimit -n)"
        case .connectionLost(let error): "the connection was lost: \(error)"
        case .system(let error): "a system call failed: \(error)"
        case .timedOut(let step): "timed out \(step)"
        case .cancelled: "cancelled"
        case .shutDown: "the client was shut down"
        }
    }
}

extension TransportStep: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connect: "while connecting"
        case .tls: "in the TLS handshake"
        case .firstByte: "waiting for the first byte of the response"
        case .idleReceiving: "waiting for more of the response"
        case .idleSending: "waiting to send more of the request"
        case .exchange: "before the exchange was complete"
        }
    }
}
