// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// What a server said about the version of a downloaded resource. The rest must agree with it before it is appended to a part
/// (RFC 9110 §15.3.7.3).
package struct DownloadVersion: Hashable, Sendable, Codable {
    /// The entity tag, weak or strong, as the server sent it.
    package let entityTag: String?
    /// The `Last-Modified` date, as the server sent it.
    package let lastModified: String?
    /// The length of the whole resource.
    package let total: Int64?
    /// The content coding of the bytes; nil for none.
    package let coding: String?

    /// Creates the version of a response with the whole resource. If the content is decoded, the length is not that of the file.
    package init(of response: HTTPURLResponse) {
        entityTag = response.value(forHTTPHeaderField: "ETag")
        lastModified = response.value(forHTTPHeaderField: "Last-Modified")
        total = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
        coding = Self.coding(of: response)
    }

    /// Creates a version of which only the validator is known.
    init(_ validator: ResumeData.Validator) {
        switch validator {
        case .entityTag(let tag): (entityTag, lastModified) = (tag, nil)
        case .lastModified(let date): (entityTag, lastModified) = (nil, date)
        }
        (total, coding) = (nil, nil)
    }

    /// Describes how a response's version differs from this one; returns nil if nothing shows a difference.
    ///
    /// A 206 may omit fields that were sent before (§15.3.7). If it has a tag, the date is not compared.
    func difference(from response: HTTPURLResponse, total: Int64?) -> String? {
        let tag = response.value(forHTTPHeaderField: "ETag")
        if let entityTag, let tag {
            if !tag.hasSameOctets(as: entityTag) { return Self.versions("entity tag ", entityTag, tag) }
        } else if let lastModified, let date = response.value(forHTTPHeaderField: "Last-Modified"),
            !date.hasSameOctets(as: lastModified)
        {
            return Self.versions("last modified ", lastModified, date)
        }
        if let known = self.total, let total, total != known {
            return Self.versions("length ", "\(known)", "\(total)")
        }
        // Only a stated coding is compared: a 206 need not repeat it.
        if let other = Self.coding(of: response), other != coding {
            return Self.versions("coding ", coding ?? "identity", other)
        }
        return nil
    }

    private static func versions(_ what: String, _ ours: String, _ theirs: String) -> String {
        "the server has another version: \(what)\(theirs), where the part that is there has \(what)\(ours)"
    }

    private static func coding(of response: HTTPURLResponse) -> String? {
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        return coding == "identity" ? nil : coding
    }
}
