// SPDX-License-Identifier: MIT

package import LupineTLS
package import LupineTransport

/// Why an origin could not start.
package enum OriginError: Error, Hashable, Sendable {
    /// The host to listen on is no address; names are not resolved here.
    case notAnAddress(String)
    /// The kernel does not let it listen there, or gives it no loops.
    case cannotListen(at: SocketAddress, Errno)
    /// OpenSSL cannot speak TLS as it was configured.
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
