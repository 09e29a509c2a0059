// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The known properties of the resource whose first bytes are in a partial file. With them, a resumed download does not combine
/// bytes of two versions.
///
/// The record is stored in a file beside the partial file until the download is complete. It has three lines: the validator of
/// the version, the total length, and the content coding of the bytes. A line is empty if its value is unknown or absent.
struct ResumeRecord: Hashable, Sendable {
    /// A strong ETag, or a date that is a strong validator.
    var validator: String?
    /// The length of the complete content.
    var total: Int64?
    /// The content coding of the bytes; nil unless `--raw-encoding` has saved them undecoded.
    var coding: String?

    /// Creates the record of a new file from its response; nil if the server does not support ranges, or the response is not a
    /// 200.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decodes: Whether the library decodes the content.
    init?(_ response: HTTPURLResponse, decodes: Bool) {
        guard response.statusCode == 200,
            response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none"
        else { return nil }
        let coding = Self.coding(of: response)
        validator = Self.validator(of: response)
        // The length of decoded content is unknown.
        if coding == nil || !decodes {
            total = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        }
        // Decoded bytes have no coding.
        self.coding = decodes ? nil : coding
    }

    init(validator: String? = nil, total: Int64? = nil, coding: String? = nil) {
        self.validator = validator
        self.total = total
        self.coding = coding
    }

    /// Returns the content coding of a response; nil if there is none.
    static func coding(of response: HTTPURLResponse) -> String? {
        let text = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? ""
        return text.isEmpty || text == "identity" ? nil : text
    }

    /// Returns a strong validator: a strong ETag, or a `Last-Modified` that is at least one second before the response's `Date`
    /// (RFC 9110 §8.8.2.2), since a file may change twice within a second. Nil if the response has none.
    private static func validator(of response: HTTPURLResponse) -> String? {
        // A weak ETag begins with `W/`, a strong one with a quote.
        if let tag = response.value(forHTTPHeaderField: "ETag") { return tag.hasPrefix("\"") ? tag : nil }
        guard let text = response.value(forHTTPHeaderField: "Last-Modified"), let modified = date(text),
            let created = response.value(forHTTPHeaderField: "Date").flatMap(date),
            created.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }

    /// Parses a date in HTTP's preferred format, IMF-fixdate (RFC 9110 §5.6.7).
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }

    // MARK: the file beside the download

    /// The suffix of a record's file name.
    static let suffix = ".lupine-part"
    /// Returns the path of the record of a file.
    private static func path(_ file: String) -> String { file + suffix }
    /// The maximum size of a record; response heads are shorter.
    private static let maximumByteCount = 1 << 20

    /// Reads the record of a file; nil if there is none. Only a regular file that the user owns is accepted.
    static func read(for file: String) -> ResumeRecord? {
        guard let data = try? PrivateFile.readSaved(path(file)), data.count < maximumByteCount else {
            return nil
        }
        let lines = String(decoding: data, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { $0.isEmpty ? nil : String($0) }
        // Returns a line; nil if it is empty or missing.
        let line = { (number: Int) in number < lines.count ? lines[number] : nil }
        let record = ResumeRecord(validator: line(0), total: line(1).flatMap { Int64($0) }, coding: line(2))
        // A record in which nothing is known is as good as none.
        return record == ResumeRecord() ? nil : record
    }

    /// Writes the record of a file, and replaces an old one. If the new record cannot be written, the old record is removed: it
    /// describes other content.
    func write(for file: String) {
        // A record in which nothing is known is not written.
        guard self != ResumeRecord() else { return Self.remove(file) }
        var lines = [validator ?? "", total.map { "\($0)" } ?? ""]
        if let coding { lines.append(coding) }
        do {
            try PrivateFile.write(Data((lines.joined(separator: "\n") + "\n").utf8), to: Self.path(file))
        } catch { Self.remove(file) }
    }

    /// Removes the record of a file.
    static func remove(_ file: String) { try? FileManager.default.removeItem(atPath: path(file)) }
}
