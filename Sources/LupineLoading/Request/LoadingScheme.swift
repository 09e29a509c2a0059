// SPDX-License-Identifier: MIT

internal import Foundation

/// The scheme of an address, as far as it decides what carries a request out. In any case of letters.
enum LoadingScheme: Sendable {
    case http, https, ws, wss, file, data
    /// A scheme of somebody else.
    case other
    /// There is no scheme, or no address.
    case none

    init(of url: URL?) {
        guard let text = url?.scheme, !text.isEmpty else {
            self = .none
            return
        }
        self = Self.named(text) ?? Self.named(text.lowercased()) ?? .other
    }

    /// That of such a name, in small letters.
    private static func named(_ text: String) -> LoadingScheme? {
        switch text {
        case "http": .http
        case "https": .https
        case "ws": .ws
        case "wss": .wss
        case "file": .file
        case "data": .data
        default: nil
        }
    }
}
