// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The version of a downloaded resource, as the server described it. A 206 is appended to a part only if its version does not
/// differ (RFC 9110 §15.3.7.3).
package struct DownloadVersion: Hashable, Sendable, Codable {
    /// The entity tag, weak or strong, as the server sent it.
    package let entityTag: String?
    /// The `Last-Modified` date, as the server sent it.
    package let lastModified: String?
    /// The length of the whole resource.
    package let total: Int64?
    /// The content coding of the bytes; nil for none.
    package let coding: String?

    /// Creates the version of a response with the whole resource. The total is nil if the content is decoded.
    package init(of response: HTTPURLResponse) {
        entityTag = response.value(forHTTPHeaderField: "ETag")
        lastModified = response.value(forHTTPHeaderField: "Last-Modified")
        total = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
        coding = Self.coding(of: response)
    }

    /// Creates a version with a validator only.
    init(_ validator: ResumeData.Validator) {
        switch validator {
        case .entityTag(let tag): (entityTag, lastModified) = (tag, nil)
        case .lastModified(let date): (entityTag, lastModified) = (nil, date)
        }
        (total, coding) = (nil, nil)
    }

    /// Describes how a response's version differs from this one; returns nil if no field of both differs.
    ///
    /// A 206 may omit fields that were sent before (RFC 9110 §15.3.7). If both versions have a tag, the dates are not compared.
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

    /// Describes a property in which the stored version and the server's differ.
    private static func versions(_ property: String, _ stored: String, _ sent: String) -> String {
        "the server has another version: \(property)\(sent), "
            + "where the part that is there has \(property)\(stored)"
    }

    private static func coding(of response: HTTPURLResponse) -> String? {
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        return coding == "identity" ? nil : coding
    }
}
