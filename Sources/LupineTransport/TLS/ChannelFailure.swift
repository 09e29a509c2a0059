// SPDX-License-Identifier: MIT

import LupineTLS

/// Why bytes do not move: the kernel says so, or TLS does.
enum ChannelFailure: Error, Hashable {
    case system(Errno)
    case tls(TLSError)

    /// The same, as what becomes of an exchange with the peer.
    func transportError(host: String, port: UInt16) -> TransportError {
        switch self {
        case .system(let error): .connectionLost(host: host, port: port, error)
        case .tls(let error): .tls(host: host, port: port, error)
        }
    }
}
