// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Decides when a download can be resumed, and what the response to such an attempt means (U-7.12, U-7.14). Pure.
package enum ResumeRule {
    /// The rest of a download, as announced by the response's head.
    package struct Rest: Hashable, Sendable {
        /// The number of bytes before the rest.
        package let offset: Int64
        /// The total number of bytes; -1 if it is unknown.
        package let total: Int64
        /// The sizes with which the file counts as complete.
        package let whole: ClosedRange<Int64>
        /// The server's `Content-Range`.
        package let name: String
    }

    /// What a download does with a response.
    package enum Step: Hashable, Sendable {
        /// Store the content from the start.
        case store
        /// Append the content to the existing part.
        case append(Rest)
        /// There is no rest: the part is complete.
        case complete
        /// The content is not the rest of the part, for this reason: request the whole.
        case startOver(String)
    }

    /// Returns the step after a `response` to the request for the rest of `part`.
    ///
    /// A server may not know `If-Range`, or respond with another range: a 206 only counts as the rest if its version, range,
    /// total and length all fit.
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
        // If the total is unknown, the end may be off by one.
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

    /// Returns the validator with which a part of this response can be resumed; nil if it cannot.
    ///
    /// - Parameters:
    ///   - response: The response with the fields that describe the version.
    ///   - request: The request as the program made it; one with a `Range` of its own cannot be resumed.
    ///   - isDecoded: Whether the stored content is decoded, and so differs from what was sent.
    static func validator(
        of response: HTTPURLResponse, to request: URLRequest, isDecoded: Bool
    ) -> ResumeData.Validator? {
        guard !isDecoded, request.httpMethod == "GET", request.value(forHTTPHeaderField: "Range") == nil,
            let scheme = request.url?.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { return nil }
        let field = { (name: String) in response.value(forHTTPHeaderField: name) }
        // Excludes an unsolicited 206, whose content does not begin at the first byte.
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

    /// Whether a `Last-Modified` date is a strong validator: not if the resource may have changed again in the second in which
    /// the response was sent (RFC 9110 §8.8.2.2). `If-Range` requires a strong validator (§13.1.5).
    private static func isStrong(_ changed: String, sent: String) -> Bool {
        guard let changed = HTTPDate.moment(of: changed), let sent = HTTPDate.moment(of: sent) else {
            return false
        }
        return sent.timeIntervalSince(changed) >= 1
    }
}
