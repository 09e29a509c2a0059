// SPDX-License-Identifier: MIT

internal import Foundation

/// The address that a session was last given as text, with the text: programs ask for the same one again and again, and reading
/// it takes longer than comparing it. Any thread.
final class LastURL: Sendable {
    /// Longer text, that of a `data:` address for instance, is not kept.
    private static let longest = 4_096

    private let last = Protected<(text: String, url: URL)?>(nil)

    /// The URL of the convertible; throws what its conversion throws.
    func url(of convertible: any URLConvertible) throws -> URL {
        guard let text = convertible as? String else { return try convertible.asURL() }
        // Byte by byte: strings that only look the same are equal, and spell different addresses.
        let known: URL? = last.read { last in
            guard let last, Self.spellsTheSame(last.text.utf8.span, text.utf8.span) else { return nil }
            return last.url
        }
        if let known { return known }
        let url = try text.asURL()
        if text.utf8.count <= Self.longest { last.write((text, url)) }
        return url
    }

    private static func spellsTheSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        // From the end: there they differ, if they do.
        var place = left.count - 1
        while place >= 0, left[place] == right[place] { place -= 1 }
        return place < 0
    }
}
