// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The name, file name and type of a part of a multipart form, from the part's fields (RFC 7578 section 4.2).
struct PartDescription {
    /// The name of the form field; empty if it has none.
    let name: String
    /// The file name, if the part is a file.
    let fileName: String?
    /// The value of `Content-Type`.
    let type: String?

    init(_ fields: Fields) {
        let dispositionParameter = { (name: String) -> String? in
            // Both the field and the parameter may be missing: `?? nil` makes one optional of two.
            fields.withFirstValue(of: .contentDisposition) { bytes in
                ListSyntax.parameter(name, of: 0..<bytes.count, in: bytes)
            } ?? nil
        }
        name = dispositionParameter("name") ?? ""
        fileName = dispositionParameter("filename")
        type = fields[.contentType]
    }
}
