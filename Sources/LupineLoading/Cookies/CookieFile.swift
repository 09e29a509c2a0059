// SPDX-License-Identifier: MIT

internal import Foundation

/// The file of a cookie storage, with one line of JSON for each cookie that outlives the session.
///
/// Lines are independent, so that an unreadable line affects no other. The file is replaced as a whole.
struct CookieFile: Sendable {
    /// One line.
    private struct Line: Codable {
        var created: Date
        var cookie: HTTPCookie.Contents
    }

    /// More than any storage holds; a longer file was not written by this library.
    private static let longest = 64 << 20

    private let file: AtomicFile

    /// Creates a file object for a URL; the file need not exist yet.
    init(_ url: URL) { file = AtomicFile(url) }

    /// Returns the cookies that were last written, the oldest first.
    func read() -> [(cookie: HTTPCookie, created: Date)] {
        file.removeDrafts()
        guard let data = file.read(upTo: Self.longest) else { return [] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        return data.split(separator: 0x0A).compactMap { octets in
            guard let line = try? decoder.decode(Line.self, from: octets), line.cookie.isWhole,
                line.created.timeIntervalSince1970.isFinite
            else { return nil }
            return (HTTPCookie(line.cookie), min(line.created, Date()))
        }
    }

    /// Replaces the file's cookies with those of the entries that outlive the session.
    func write(_ entries: [CookieJar.Entry]) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.outputFormatting = .withoutEscapingSlashes
        var data = Data()
        for entry in entries where !entry.cookie.isSessionOnly {
            data.append(try encoder.encode(Line(created: entry.created, cookie: entry.cookie.contents)))
            data.append(0x0A)
        }
        try file.replace(with: data)
    }
}

extension HTTPCookie.Contents {
    /// Whether the contents read from a file could have been written to it.
    fileprivate var isWhole: Bool {
        SetCookieSyntax.canBeSent(name: name, value: value) && !domain.isEmpty && path.hasPrefix("/")
            && expires.map { $0.timeIntervalSince1970.isFinite } ?? false
    }
}
