// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// The version of a downloaded resource, as the fields of a response describe it. The content of a 206 is appended to a part only
/// if its version does not differ from that of the part (RFC 9110 §15.3.7.3).
package struct DownloadVersion: Hashable, Sendable, Codable {
    /// The entity tag, weak or strong, as the server sent it.
    package let entityTag: String?
    /// The `Last-Modified` date, as the server sent it.
    package let lastModified: String?
    /// The length of the whole resource in bytes; nil if it is unknown.
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

    /// Returns a description of how a response's version differs from this one; nil if no field that both have differs.
    ///
    /// A 206 may omit fields that were sent before (RFC 9110 §15.3.7). If both versions have an entity tag, the dates are not
    /// compared. `total` is the length of the whole resource according to the response; nil if it is unknown.
    func difference(from response: HTTPURLResponse, total: Int64?) -> String? {
        let tag = response.value(forHTTPHeaderField: "ETag")
        if let entityTag, let tag {
            if !tag.hasSameOctets(as: entityTag) { return Self.differenceText("entity tag ", entityTag, tag) }
        } else if let lastModified, let date = response.value(forHTTPHeaderField: "Last-Modified"),
            !date.hasSameOctets(as: lastModified)
        {
            return Self.differenceText("last modified ", lastModified, date)
        }
        if let knownTotal = self.total, let total, total != knownTotal {
            return Self.differenceText("length ", "\(knownTotal)", "\(total)")
        }
        // A response without a coding is not compared, because a 206 need not repeat the coding.
        if let responseCoding = Self.coding(of: response), responseCoding != coding {
            return Self.differenceText("coding ", coding ?? "identity", responseCoding)
        }
        return nil
    }

    /// Returns a description of a property in which the stored version and the server's differ.
    private static func differenceText(_ property: String, _ stored: String, _ sent: String) -> String {
        "the server has another version: \(property)\(sent), "
            + "where the part that is there has \(property)\(stored)"
    }

    /// Returns the content coding of a response in lowercase; nil for none and for `identity`.
    private static func coding(of response: HTTPURLResponse) -> String? {
        let coding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased()
        return coding == "identity" ? nil : coding
    }
}
