// SPDX-License-Identifier: MIT

import LupineTLS

/// Why a channel could not read or write: an error of the kernel or of TLS.
enum ChannelFailure: Error, Hashable {
    case system(Errno)
    case tls(TLSError)

    /// Returns the error that an exchange with this peer reports for the failure.
    func transportError(host: String, port: UInt16) -> TransportError {
        switch self {
        case .system(let error): .connectionLost(host: host, port: port, error)
        case .tls(let error): .tls(host: host, port: port, error)
        }
    }
}
