// SPDX-License-Identifier: MIT

/// The kind of request that is made through the library.
package enum ChaosForm: String, CaseIterable, Sendable {
    /// A data request, whose body is delivered as it is.
    case data
    /// A data request, whose body is text.
    case text
    /// A data request, whose body is decoded.
    case decodable
    /// A stream.
    case stream
    /// A download to a temporary file.
    case download
    /// A download to a destination of the caller.
    case placedDownload
    /// PUT of bytes.
    case upload
    /// PUT of a file.
    case fileUpload
    /// POST of bytes, which only its caller may send again.
    case post
    /// POST of a stream, which is sent in chunks and only once.
    case streamUpload
    /// PUT of a multipart form that is encoded in memory.
    case form
    /// PUT of a multipart form that is encoded into a temporary file, with one part from another file.
    case storedForm

    /// Whether it has a body.
    package var isUpload: Bool {
        switch self {
        case .upload, .fileUpload, .post, .streamUpload, .form, .storedForm: true
        case .data, .text, .decodable, .stream, .download, .placedDownload: false
        }
    }

    /// Whether its body is a multipart form.
    package var isMultipart: Bool { self == .form || self == .storedForm }

    /// Whether its caller can send it again.
    package var isRepeatable: Bool { self != .streamUpload }

    /// Whether it is sent again if its connection turns out to be closed.
    package var isIdempotent: Bool { method != "POST" }

    /// The method.
    package var method: String {
        switch self {
        case .upload, .fileUpload, .form, .storedForm: "PUT"
        case .post, .streamUpload: "POST"
        case .data, .text, .decodable, .stream, .download, .placedDownload: "GET"
        }
    }

    /// The content type of its response.
    package var contentType: String {
        switch self {
        case .text: "text/plain"
        case .decodable: "application/json"
        case .data, .stream, .download, .placedDownload, .upload, .fileUpload, .post, .streamUpload, .form,
            .storedForm:
            "application/octet-stream"
        }
    }
}
