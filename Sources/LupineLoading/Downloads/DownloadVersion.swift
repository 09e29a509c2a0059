// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

/// What a server said of the version of a resource that a download is of: what the rest has to agree with before it is put
/// behind the part that is there (RFC 9110 §15.3.7.3).
package struct DownloadVersion: Hashable, Sendable, Codable {
    /// The entity tag, weak or strong, word for word.
    package let entityTag: String?
    /// The date of the last change, word for word.
    package let lastModified: String?
    /// How many bytes the whole has.
    package let total: Int64?
    /// The content coding that the bytes are in; nil for none.
    package let coding: String?

    /// The version that a response with the whole is of. Its length is not the file's where a coding is undone.
    package init(of response: HTTPURLResponse) {
        entityTag = response.value(forHTTPHeaderField: "ETag")
        lastModified = response.value(forHTTPHeaderField: "Last-Modified")
        total = response.expectedContentLength >= 0 ? response.expectedContentLength : nil
        coding = Self.coding(of: response)
    }

    /// All that a validator says.
    init(_ validator: ResumeData.Validator) {
        switch validator {
        case .entityTag(let tag): (entityTag, lastModified) = (tag, nil)
        case .lastModified(let date): (entityTag, lastModified) = (nil, date)
        }
        (total, coding) = (nil, nil)
    }

    /// In what a response is of another version, in words; nil where nothing says so.
    ///
    /// A 206 may leave out what the part before it said (§15.3.7). Where it has a tag, the date adds nothing.
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
        // Only a coding that is said counts: a 206 need not repeat it.
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
