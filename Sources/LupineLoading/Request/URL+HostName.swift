// SPDX-License-Identifier: MIT

internal import Foundation

extension URL {
    /// The host, without percent-encoding; nil if there is none, or if it is longer than any host name.
    ///
    /// The limit keeps a peer's URL with a host of 64 KiB of combining characters, which are slow to process, from delaying
    /// others.
    var hostName: String? {
        guard let host = host(percentEncoded: false), host.utf8.count <= HostName.maxLength else {
            return nil
        }
        return host
    }
}
