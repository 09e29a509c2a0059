// SPDX-License-Identifier: MIT

internal import Foundation

/// Reads and writes the file of a cookie storage, which has one line of JSON for each cookie with an expiry date.
///
/// Lines are independent: if one is unreadable, only its cookie is lost. A write replaces the whole file (`AtomicFile`).
struct CookieFile: Sendable {
    /// A line of the file. The names of the properties are part of the format.
    private struct Line: Codable {
        /// The date when the cookie was first stored.
        var created: Date
        var cookie: HTTPCookie.Contents
    }

    /// The largest size of a file that is read, in bytes. No storage writes a larger file.
    private static let maxBytes = 64 << 20

    private let file: AtomicFile

    /// Creates a value for the file at this URL, which need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// Returns the cookies of the last write, oldest first, with the dates when they were first stored. Skips unreadable lines.
    /// Removes the drafts that interrupted writes have left.
    func read() -> [(cookie: HTTPCookie, creationDate: Date)] {
        file.removeDrafts()
        // Nil if there is no file, if it is too long, or if other users can write to it.
        guard let data = file.read(upTo: Self.maxBytes) else { return [] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return data.split(separator: UInt8(ascii: "\n")).compactMap { octets in
            guard let line = try? decoder.decode(Line.self, from: octets), line.cookie.isValid,
                line.created.timeIntervalSince1970.isFinite
            else { return nil }
            // Limits the date to the present: the clock may have been set back since the write.
            return (HTTPCookie(line.cookie), min(line.created, Date()))
        }
    }

    /// Replaces the file's content with the entries that have an expiry date.
    func write(_ entries: [CookieJar.Entry]) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .withoutEscapingSlashes
        var data = Data()
        for entry in entries where !entry.cookie.isSessionOnly {
            data.append(try encoder.encode(Line(created: entry.creationDate, cookie: entry.cookie.contents)))
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
