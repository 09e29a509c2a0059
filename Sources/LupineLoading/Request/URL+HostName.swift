// SPDX-License-Identifier: MIT

internal import Foundation

extension URL {
    /// The host, with percent-encoding removed; nil when there is none, or when it is too long to be a name.
    ///
    /// Peers supply URLs too, and may send a host of 64 KiB of combining characters: hosts longer than a DNS name with each octet
    /// percent-encoded are not processed.
    var hostName: String? {
        guard let host = host(percentEncoded: false), host.utf8.count <= HostName.longest else { return nil }
        return host
    }
}
