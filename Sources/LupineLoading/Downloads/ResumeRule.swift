// SPDX-License-Identifier: MIT

internal import Foundation

/// When a download can be gone on with later, and what an answer to such an attempt means (U-7.12, U-7.14). Pure.
enum ResumeRule {
    /// What a download has to do with a response.
    enum Step: Hashable {
        /// Store it from the beginning.
        case store
        /// The rest of what is there: store it behind `offset`. The total is -1 where nobody knows it.
        case append(offset: Int64, total: Int64)
        /// There is no rest: everything is there.
        case complete
        /// A part that was not asked for.
        case refuse(String)
    }

    /// The step after `response`, when the rest behind `offset` bytes was asked for.
    static func step(after response: HTTPURLResponse, offset: Int64) -> Step {
        let range = response.value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
        switch response.statusCode {
        case 206:
            guard let range, let start = range.start, start == offset else {
                return .refuse("the server sent another part than the one asked for")
            }
            if let total = range.total, total >= offset { return .append(offset: offset, total: total) }
            let length = response.expectedContentLength
            let (sum, overflows) = offset.addingReportingOverflow(length)
            return .append(offset: offset, total: length < 0 || overflows ? -1 : sum)
        case 416:
            return range?.total == offset && range?.start == nil ? .complete : .store
        default:
            return .store
        }
    }

    /// The version that a part of this response would be of; nil where it cannot be gone on with.
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
        switch response.statusCode {
        case 200:
            let units = (field("Accept-Ranges") ?? "").split(separator: ",")
            guard
                units.contains(where: {
                    $0.trimmingCharacters(in: .whitespaces).lowercased() == "bytes"
                })
            else { return nil }
        case 206: break
        default: return nil
        }
        guard !CacheControl(field: field("Cache-Control"), pragma: field("Pragma")).noStore else {
            return nil
        }
        if let tag = field("ETag"), tag.hasPrefix("\""), tag.count > 1, tag.hasSuffix("\"") {
            return .entityTag(tag)
        }
        return field("Last-Modified").map { .lastModified($0) }
    }
}
