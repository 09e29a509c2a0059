// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

extension SessionEngine {
    /// What an answer to an `http` request depends on beside its address, for nothing proves who gave it: the proxy and
    /// whatever else leads the connection elsewhere. Nil for the plain way.
    func way(to url: URL) -> String? {
        let proxy = proxy(for: url, isWebSocket: false)
        if proxy == nil, detour == nil { return nil }
        let named = proxy.map { "\($0.kind) \($0.host):\($0.port)" }
        return [named, detour].compactMap(\.self).joined(separator: " ")
    }

    /// What leads all connections of a session elsewhere than to where their addresses say; nil for nothing.
    static func detour(_ options: URLSessionConfiguration.LupineOptions) -> String? {
        var parts: [String] = []
        if let path = options.unixSocketPath { parts.append("unix:\(path)") }
        if let binding = options.localBinding { parts.append("from:\(binding)") }
        for (place, addresses) in options.addressOverrides.sorted(by: {
            ($0.key.host, $0.key.port) < ($1.key.host, $1.key.port)
        }) {
            let addresses = addresses.map { "\($0)" }.joined(separator: ",")
            parts.append("\(place.host):\(place.port)=\(addresses)")
        }
        if parts.isEmpty { return nil }
        let text = parts.joined(separator: " ")
        return text.utf8.count > 512 ? SHA256Digest.of(Array(text.utf8)).description : text
    }
}
