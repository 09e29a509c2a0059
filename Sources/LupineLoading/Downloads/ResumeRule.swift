// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Decides when a download can be resumed, and what the response to such an attempt means (U-7.12, U-7.14). Pure.
package enum ResumeRule {
    /// The remaining bytes of a download, as announced by the response's head.
    package struct Rest: Hashable, Sendable {
        /// The number of bytes before the remaining ones.
        package let offset: Int64
        /// The total number of bytes of the download; -1 if it is unknown.
        package let total: Int64
        /// The file sizes, in bytes, with which the download counts as complete.
        package let whole: ClosedRange<Int64>
        /// The value of the response's `Content-Range`.
        package let name: String
    }

    /// What a download does with a response.
    package enum Step: Hashable, Sendable {
        /// Store the content from its start, in a new file, and not in the existing part.
        case store
        /// Append the content to the existing part.
        case append(Rest)
        /// No bytes are missing: the existing part is complete.
        case complete
        /// Request the whole content: this response cannot be appended to the existing part. The payload says why.
        case startOver(String)
    }

    /// Returns the step after a `response` to the request for the bytes that `part`, the partial download, lacks.
    ///
    /// Some servers ignore `If-Range`, or respond with another range: a 206 is appended only if its version, range, total and
    /// length all fit.
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
        // Some servers send the size as the end, instead of the position of the last byte. A known total tells which; if it is
        // unknown, both readings are accepted.
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
