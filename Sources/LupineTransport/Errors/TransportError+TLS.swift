// SPDX-License-Identifier: MIT

import LupineTLS

/// Describes TLS errors: the peer, the certificate that it presented, and why that was not accepted.
extension TransportError {
    /// Returns the description of a TLS error with a peer.
    static func describe(_ error: TLSError, of host: String, _ port: UInt16) -> String {
        let peer = peer(host, port)
        return switch error {
        case .untrusted(.hostMismatch(_, let names)):
            "TLS: \(peer) presented a certificate for \(list(names)) (host name does not match)"
        case .untrusted(let failure):
            "TLS: \(peer) presented a certificate that is not trusted: \(failure)"
        case _: "TLS: \(peer): \(error)"
        }
    }

    /// Returns the first few names as text, and the number of the others; a certificate may have hundreds.
    private static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "no name at all" }
        let shownNames = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shownNames) and \(names.count - 5) more" : shownNames
    }
}
