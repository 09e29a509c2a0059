// SPDX-License-Identifier: MIT

internal import Foundation

/// Reads and writes the file of a cookie storage, which has one line of JSON for each cookie with an expiry date.
///
/// Lines are independent: an unreadable line loses one cookie. A write replaces the whole file (`AtomicFile`).
struct CookieFile: Sendable {
    /// One line.
    private struct Line: Codable {
        var created: Date
        var cookie: HTTPCookie.Contents
    }

    /// The most bytes that are read. No storage writes a file of this size.
    private static let mostBytes = 64 << 20

    private let file: AtomicFile

    /// Creates a value for the file at this URL, which need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// Returns the cookies that were last written, the oldest first, without unreadable lines. Removes drafts of interrupted
    /// writes.
    func read() -> [(cookie: HTTPCookie, created: Date)] {
        file.removeDrafts()
        guard let data = file.read(upTo: Self.mostBytes) else { return [] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return data.split(separator: UInt8(ascii: "\n")).compactMap { octets in
            guard let line = try? decoder.decode(Line.self, from: octets), line.cookie.isValid,
                line.created.timeIntervalSince1970.isFinite
            else { return nil }
            return (HTTPCookie(line.cookie), min(line.created, Date()))
        }
    }

    /// Replaces the file's content with those of the entries that have an expiry date.
    func write(_ entries: [CookieJar.Entry]) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .withoutEscapingSlashes
        var data = Data()
        for entry in entries where !entry.cookie.isSessionOnly {
            data.append(try encoder.encode(Line(created: entry.created, cookie: entry.cookie.contents)))
            data.append(UInt8(ascii: "\n"))
        }
        try file.replace(with: data)
    }
}

extension HTTPCookie.Contents {
    /// Whether `write` could have written the contents.
    fileprivate var isValid: Bool {
        SetCookieSyntax.canBeSent(name: name, value: value) && !domain.isEmpty && path.hasPrefix("/")
            && expires.map { $0.timeIntervalSince1970.isFinite } ?? false
    }
}
