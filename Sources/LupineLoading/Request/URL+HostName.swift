// SPDX-License-Identifier: MIT

internal import Foundation

extension URL {
    /// The host, with percent-encoding undone; nil where there is none, or where it is longer than any name.
    ///
    /// A peer writes addresses, too, and may name a host in 64 KiB of combining characters: what is longer than a name of the DNS
    /// with each octet percent-encoded is not looked at.
    var hostName: String? {
        guard let host = host(percentEncoded: false), host.utf8.count <= HostName.longest else { return nil }
        return host
    }
}
