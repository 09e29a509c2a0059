// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What a partial file is a part of, kept beside it until it is whole, so that no two files are put together: a line with the
/// validator of its version, one with the length of the whole and one with the coding that its bytes are in, each empty when it is
/// not known or there is none.
struct PartialMark: Hashable, Sendable {
    /// An ETag that is strong, or a date that is.
    var validator: String?
    var total: Int64?
    /// As `--raw-encoding` takes it.
    var coding: String?

    /// What a file that a response begins is a part of; nil where its server gives no parts. `decodes`: whether the content arrives
    /// decoded.
    init?(_ response: HTTPURLResponse, decodes: Bool) {
        guard response.statusCode == 200,
            response.value(forHTTPHeaderField: "Accept-Ranges")?.lowercased() != "none"
        else { return nil }
        let coding = Self.coding(of: response)
        validator = Self.validator(of: response)
        if coding == nil || !decodes {
            total = response.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
        }
        self.coding = decodes ? nil : coding
    }

    init(validator: String? = nil, total: Int64? = nil, coding: String? = nil) {
        self.validator = validator
        self.total = total
        self.coding = coding
    }

    /// The coding of a response's content; nil for none.
    static func coding(of response: HTTPURLResponse) -> String? {
        let text = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? ""
        return text.isEmpty || text == "identity" ? nil : text
    }

    /// What names a version for certain: a strong ETag, or the date of a change that was over for a second when the answer was made
    /// (RFC 9110 §8.8.2.2), since a file may change twice in one.
    private static func validator(of response: HTTPURLResponse) -> String? {
        if let tag = response.value(forHTTPHeaderField: "ETag") { return tag.hasPrefix("\"") ? tag : nil }
        guard let text = response.value(forHTTPHeaderField: "Last-Modified"), let changed = moment(text),
            let made = response.value(forHTTPHeaderField: "Date").flatMap(moment),
            made.timeIntervalSince(changed) >= 1
        else { return nil }
        return text
    }

    private static func moment(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }

    // MARK: beside the file

    /// What the name of a mark ends with.
    static let suffix = ".lupine-part"
    private static func path(_ file: String) -> String { file + suffix }
    /// No head of a response is so long.
    private static let longest = 1 << 20

    /// What was kept; nil when nothing was. Only a regular file of the user's counts.
    static func read(of file: String) -> PartialMark? {
        guard let data = try? PrivateFile.readOwn(path(file)), data.count < longest else { return nil }
        let lines = String(decoding: data, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { $0.isEmpty ? nil : String($0) }
        let line = { (number: Int) in number < lines.count ? lines[number] : nil }
        let mark = PartialMark(validator: line(0), total: line(1).flatMap { Int64($0) }, coding: line(2))
        return mark == PartialMark() ? nil : mark
    }

    /// Keeps it in place of what stands there. What cannot be kept is not there, nor is what was kept before.
    func keep(of file: String) {
        guard self != PartialMark() else { return Self.remove(file) }
        var lines = [validator ?? "", total.map { "\($0)" } ?? ""]
        if let coding { lines.append(coding) }
        do {
            try PrivateFile.write(Data((lines.joined(separator: "\n") + "\n").utf8), to: Self.path(file))
        } catch { Self.remove(file) }
    }

    /// Removes what was kept.
    static func remove(_ file: String) { try? FileManager.default.removeItem(atPath: path(file)) }
}
