// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// When a download can be gone on with later, and what an answer to such an attempt means (U-7.12, U-7.14). Pure.
package enum ResumeRule {
    /// The rest of a download, as its head announces it.
    package struct Rest: Hashable, Sendable {
        /// How many bytes stand before it.
        package let offset: Int64
        /// How many there will be in all; -1 where nobody knows.
        package let total: Int64
        /// With how many bytes the file is whole.
        package let whole: ClosedRange<Int64>
        /// What the server called it.
        package let name: String
    }

    /// What a download has to do with a response.
    package enum Step: Hashable, Sendable {
        /// Store it from the beginning.
        case store
        /// Store it behind what is there.
        case append(Rest)
        /// There is no rest: everything is there.
        case complete
        /// It is not the rest of what is there, for this reason: the whole is to be asked for.
        case startOver(String)
    }

    /// The step after `response`, when the rest of `part` was asked for.
    ///
    /// A server may know nothing of `If-Range`, or answer for another one: a 206 is taken for the rest only where its
    /// version, range, total and length all are those of the rest.
    package static func step(after response: HTTPURLResponse, part: ResumeData) -> Step {
        let name = response.value(forHTTPHeaderField: "Content-Range")
        let range = name.flatMap(ContentRange.init)
        switch response.statusCode {
        case 206: break
        case 416:
            guard let range, range.start == nil, range.total == part.received else { return .store }
            return part.version.difference(from: response, total: part.received).map { .startOver($0) }
                ?? .complete
        default: return .store
        }
        let offset = part.received
        guard let name, let range, let end = range.end, range.start == offset else {
            let sent = name ?? "a part that it did not name"
            return .startOver("the server sent \(sent) for the bytes from \(offset) on")
        }
        if let reason = part.version.difference(from: response, total: range.total) {
            return .startOver(reason)
        }
        let total = range.total ?? part.version.total
        guard end >= (total.map { $0 - 1 } ?? offset), end <= total ?? end else {
            return .startOver("the server sent \(name), which is not all of the bytes from \(offset) on")
        }
        // Where nobody says the total, the end may be off by one.
        let whole = total.map { $0...$0 } ?? max(end, offset + 1)...(end + 1)
        let length = response.expectedContentLength
        guard length >= 0 else {
            return .append(Rest(offset: offset, total: total ?? -1, whole: whole, name: name))
        }
        let (sum, overflows) = offset.addingReportingOverflow(length)
        guard !overflows, whole.contains(sum) else {
            return .startOver("the server sent \(length) bytes for \(name)")
        }
        return .append(Rest(offset: offset, total: sum, whole: sum...sum, name: name))
    }

    /// What a part of this response would be asked on with; nil where it cannot be gone on with.
    ///
    /// - Parameters:
    ///   - response: What the server says of the version.
    ///   - request: The request as the program made it; one that asks for a part of its own cannot be gone on with.
    ///   - isDecoded: Whether what is stored is not what was sent.
    static func validator(
        of response: HTTPURLResponse, to request: URLRequest, isDecoded: Bool
    ) -> ResumeData.Validator? {
        guard !isDecoded, request.httpMethod == "GET", request.value(forHTTPHeaderField: "Range") == nil,
            let scheme = request.url?.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { return nil }
        let field = { (name: String) in response.value(forHTTPHeaderField: name) }
        // What is kept of a 206 that nobody asked for does not stand at the beginning.
        guard response.statusCode == 200 else { return nil }
        let units = Array((field("Accept-Ranges") ?? "").utf8)
        guard ListSyntax.contains("bytes", in: units.span) else { return nil }
        guard !CacheControl(field: field("Cache-Control"), pragma: field("Pragma")).noStore else {
            return nil
        }
        if let tag = field("ETag") {
            let isStrong = tag.hasPrefix("\"") && tag.count > 1 && tag.hasSuffix("\"")
            return isStrong ? .entityTag(tag) : nil
        }
        guard let changed = field("Last-Modified"), let sent = field("Date"), isStrong(changed, sent: sent)
        else {
            return nil
        }
        return .lastModified(changed)
    }

    /// Whether a date of the last change tells two versions apart: not when the resource may have changed again in the second
    /// in which the response was sent (RFC 9110 §8.8.2.2). `If-Range` must not have another (§13.1.5).
    private static func isStrong(_ changed: String, sent: String) -> Bool {
        guard let changed = HTTPDate.moment(of: changed), let sent = HTTPDate.moment(of: sent) else {
            return false
        }
        return sent.timeIntervalSince(changed) >= 1
    }
}
