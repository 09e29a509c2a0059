// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// What the fields of a part say of it (RFC 7578 section 4.2).
struct PartDescription {
    /// The field's name; empty without one.
    let name: String
    /// The file's name, if it is a file.
    let fileName: String?
    /// The media type as given.
    let type: String?

    init(_ fields: Fields) {
        let parameter = { (wanted: String) -> String? in
            fields.withFirstValue(of: .contentDisposition) { bytes in
                ListSyntax.parameter(wanted, of: 0..<bytes.count, in: bytes)
            } ?? nil
        }
        name = parameter("name") ?? ""
        fileName = parameter("filename")
        type = fields[.contentType]
    }
}
