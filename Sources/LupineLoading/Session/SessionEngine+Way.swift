// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

extension SessionEngine {
    /// The way of an `http` request; nil for the plain one.
    ///
    /// - Parameter credential: What answers the proxy, where it has asked; the configuration's does unless there is one.
    func way(to url: URL, as credential: URLCredential?) -> CacheWay? {
        let proxy = proxy(for: url, isWebSocket: false)
        if proxy == nil, detour == nil { return nil }
        let named = proxy.map { "\($0.kind) \($0.host):\($0.port)" }
        let path = [named, detour].compactMap(\.self).joined(separator: " ")
        guard let proxy else { return CacheWay(path) }
        let answered = credential.map { "\($0.user ?? ""):\($0.password ?? "")" }
        let configured = proxy.credentials.map {
            String(decoding: $0.user + [UInt8(ascii: ":")] + $0.password, as: UTF8.self)
        }
        return CacheWay(path, user: (answered ?? configured).map(CacheEntry.conceal))
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
