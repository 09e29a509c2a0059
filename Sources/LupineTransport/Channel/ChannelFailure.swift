// SPDX-License-Identifier: MIT

import LupineTLS

/// The failure of a channel's transfer: an error of the kernel or of TLS.
enum ChannelFailure: Error, Hashable {
    case system(Errno)
    case tls(TLSError)

    /// Returns the failure as an error of the exchange with this peer.
    func transportError(host: String, port: UInt16) -> TransportError {
        switch self {
        case .system(let error): .connectionLost(host: host, port: port, error)
        case .tls(let error): .tls(host: host, port: port, error)
        }
    }
}
