// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// Decides when a download can be resumed, and what the response to the request for the missing bytes means (U-7.12, U-7.14).
/// The functions have no side effects.
package enum ResumeRule {
    /// The missing bytes of a download, as the head of a response announces them.
    package struct Remainder: Hashable, Sendable {
        /// The number of bytes in the existing part.
        package let offset: Int64
        /// The total number of bytes of the resource; -1 if it is unknown.
        package let total: Int64
        /// The sizes of the file, in bytes, at which the download may be complete.
        package let completeSizes: ClosedRange<Int64>
        /// The value of the response's `Content-Range`.
        package let contentRange: String
    }

    /// What a download does with a response.
    package enum Step: Hashable, Sendable {
        /// Store the content in a new file instead of the existing part.
        case store
        /// Append the content to the existing part.
        case append(Remainder)
        /// No bytes are missing: the existing part is complete.
        case complete
        /// Request the whole resource, because this response cannot be appended to the existing part for this reason.
        case startOver(String)
    }

    /// Returns what to do with the response to `part.request`, which asks for the bytes that the part lacks.
    ///
    /// Some servers ignore `If-Range`, or respond with another range: a 206 is appended only if its version, range, total and
    /// length all fit.
    package static func step(after response: HTTPURLResponse, part: ResumeData) -> Step {
        let contentRange = response.value(forHTTPHeaderField: "Content-Range")
        let range = contentRange.flatMap(ContentRange.init)
        switch response.statusCode {
        case 206: break
        case 416:
            guard let range, range.start == nil, range.total == part.received else { return .store }
            return part.version.difference(from: response, total: part.received).map { .startOver($0) }
                ?? .complete
        default: return .store
        }
        let offset = part.received
        guard let contentRange, let range, let end = range.end, range.start == offset else {
            let sent = contentRange ?? "a part that it did not name"
            return .startOver("the server sent \(sent) for the bytes from \(offset) on")
        }
        if let reason = part.version.difference(from: response, total: range.total) {
            return .startOver(reason)
        }
        let total = range.total ?? part.version.total
        // The range must reach the end of the resource. Its end is the position of the last byte or, from some servers, the
        // position after it. If the total is unknown, the range must contain at least one byte.
        let lowestEnd = total.map { $0 - 1 } ?? offset
        // Without a total there is no upper bound, so `end` is compared with itself.
        let highestEnd = total ?? end
        guard end >= lowestEnd, end <= highestEnd else {
            return .startOver(
                "the server sent \(contentRange), which is not all of the bytes from \(offset) on")
        }
        // If the total is unknown, `end` may be the position of the last byte. Then the complete file has `end + 1` bytes. From a
        // server that sends the position after the last byte, it has `end` bytes. It always has at least one byte more than the
        // part.
        let completeSizes = total.map { $0...$0 } ?? max(end, offset + 1)...(end + 1)
        let length = response.expectedContentLength
        guard length >= 0 else {
            return .append(
                Remainder(
                    offset: offset, total: total ?? -1, completeSizes: completeSizes,
                    contentRange: contentRange))
        }
        let (finalSize, overflows) = offset.addingReportingOverflow(length)
        guard !overflows, completeSizes.contains(finalSize) else {
            return .startOver("the server sent \(length) bytes for \(contentRange)")
        }
        return .append(
            Remainder(
                offset: offset, total: finalSize, completeSizes: finalSize...finalSize,
                contentRange: contentRange))
    }

    /// Returns the validator with which a part of this response can be resumed; nil if it cannot be resumed.
    ///
    /// - Parameters:
    ///   - response: The response with the fields that describe the version.
    ///   - request: The request as the program made it. A request with a `Range` cannot be resumed.
    ///   - isDecoded: Whether the stored content is decoded, and so differs from the bytes that were sent.
    static func validator(
        of response: HTTPURLResponse, to request: URLRequest, isDecoded: Bool
    ) -> ResumeData.Validator? {
        guard !isDecoded, request.httpMethod == "GET", request.value(forHTTPHeaderField: "Range") == nil,
            let scheme = request.url?.scheme?.lowercased(),
            scheme == "http" || scheme == "https"
        else { return nil }
        let field = { (name: String) in response.value(forHTTPHeaderField: name) }
        // Excludes a 206, which was not requested and whose content may not begin at the first byte.
        guard response.statusCode == 200 else { return nil }
        let units = Array((field("Accept-Ranges") ?? "").utf8)
        guard ListSyntax.contains("bytes", in: units.span) else { return nil }
        guard !CacheControl(field: field("Cache-Control"), pragma: field("Pragma")).noStore else {
            return nil
        }
        if let tag = field("ETag") {
            // A weak tag begins with `W/`.
            let isStrong = tag.hasPrefix("\"") && tag.count > 1 && tag.hasSuffix("\"")
            return isStrong ? .entityTag(tag) : nil
        }
        guard let lastModified = field("Last-Modified"), let date = field("Date"),
            isStrong(lastModified, sent: date)
        else {
            return nil
        }
        return .lastModified(lastModified)
    }

    /// Whether a `Last-Modified` date is a strong validator, which `If-Range` requires (RFC 9110 §13.1.5). It is weak if the
    /// resource may have changed again in the second in which the response was sent (§8.8.2.2).
    private static func isStrong(_ lastModified: String, sent: String) -> Bool {
        guard let lastModified = HTTPDate.date(from: lastModified), let sent = HTTPDate.date(from: sent)
        else {
            return false
        }
        return sent.timeIntervalSince(lastModified) >= 1
    }
}
