// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// The description of a part in its fields (RFC 7578 section 4.2).
struct PartDescription {
    /// The name of the form field; empty if it has none.
    let name: String
    /// The file name, if the part is a file.
    let fileName: String?
    /// The value of `Content-Type`.
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
