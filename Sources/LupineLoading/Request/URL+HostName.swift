// SPDX-License-Identifier: MIT

internal import Foundation

extension URL {
    /// The host, without percent-encoding; nil if there is none, or if it is longer than `HostName.maxLength`.
    ///
    /// The limit protects the other tasks: a peer could send a URL whose host consists of 64 KiB of combining characters, which
    /// are slow to process.
    var hostName: String? {
        guard let host = host(percentEncoded: false), host.utf8.count <= HostName.maxLength else {
            return nil
        }
        return host
    }
}
