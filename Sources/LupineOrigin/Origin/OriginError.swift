// SPDX-License-Identifier: MIT

package import LupineTLS
package import LupineTransport

/// The reason why an origin could not start.
package enum OriginError: Error, Hashable, Sendable {
    /// The host to listen on is not an IP address. Host names are not resolved.
    case notAnAddress(String)
    /// A system call failed while the origin opened its listening socket or created its event loops.
    case cannotListen(at: SocketAddress, Errno)
    /// OpenSSL rejected the TLS configuration.
    case cannotSpeakTLS(TLSError)
}

extension OriginError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAnAddress(let host): "\(host) is no IP address to listen on"
        case .cannotListen(let address, let error): "cannot listen at \(address): \(error)"
        case .cannotSpeakTLS(let error): "cannot speak TLS: \(error)"
        }
    }
}
