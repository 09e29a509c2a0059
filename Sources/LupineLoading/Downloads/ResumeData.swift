// SPDX-License-Identifier: MIT

package import Foundation

/// The description of a stopped download, with which it can be resumed. Programs get it encoded as opaque `Data` (U-7.14).
///
/// Resume data is valid in other sessions and processes, as long as the partial file exists. Decoding validates all values,
/// because the program may pass any data.
package struct ResumeData: Hashable, Sendable, Codable {
    /// The validator that identifies a version of a resource (RFC 9110 §8.8), as the server sent it.
    package enum Validator: Hashable, Sendable, Codable {
        /// A strong entity tag.
        case entityTag(String)
        /// The `Last-Modified` date.
        case lastModified(String)

        /// The value of `If-Range`.
        package var text: String {
            switch self {
            case .entityTag(let text), .lastModified(let text): text
            }
        }
    }

    /// The URL of the resource.
    package let url: URL
    /// The header fields that the program set in the request, in order.
    package let fields: [HeaderList.Field]
    /// Whether the request used the cookie storage; nil if that is unknown.
    private let handlesCookies: Bool?
    /// The main document of the request, which decides about cross-site cookies.
    private let mainDocument: URL?
    /// The validator of the part's version.
    package let validator: Validator
    /// The number of bytes in the part, which is the incomplete file.
    package let received: Int64
    /// The path of the partial file.
    package let file: String
    /// The version of the part as the server has described it; nil in data of earlier library versions. The property's name is a
    /// key of the encoded data.
    private let said: DownloadVersion?

    private static let magic = Array("lupine-download-1\n".utf8)
    /// The largest size of encoded data: 1 MiB. The longest request head that can be sent is shorter.
    private static let maxLength = 1 << 20

    /// Creates resume data.
    ///
    /// - Parameters:
    ///   - url: The URL of the resource.
    ///   - fields: The header fields of the request for it.
    ///   - validator: The validator of the version.
    ///   - received: The number of bytes in the part.
    ///   - file: The path of the partial file.
    ///   - version: The version; nil if only the validator is known.
    ///   - request: The request whose cookie settings apply when the download is resumed; nil for the default.
    package init(
        url: URL, fields: [HeaderList.Field], validator: Validator, received: Int64, file: String,
        version: DownloadVersion? = nil, cookiesAsIn request: URLRequest? = nil
    ) {
        self.url = url
        self.fields = fields
        handlesCookies = request?.httpShouldHandleCookies
        mainDocument = request?.mainDocumentURL
        self.validator = validator
        self.received = received
        self.file = file
        said = version
    }

    /// The version of the part, with which the response to `request` is compared; at least its validator.
    package var version: DownloadVersion { said ?? DownloadVersion(validator) }

    /// Decodes resume data; returns nil if `data` was not encoded by this type.
    package init?(_ data: Data) {
        guard data.count <= Self.maxLength, data.starts(with: Self.magic),
            let decoded = try? JSONDecoder().decode(Self.self, from: data.dropFirst(Self.magic.count)),
            decoded.isValid
        else { return nil }
        self = decoded
    }

    /// The encoded data for the program; nil if it would be too long to be decoded again.
    package var data: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(self), body.count + Self.magic.count <= Self.maxLength else {
            return nil
        }
        return Data(Self.magic) + body
    }

    /// The request for the missing bytes, on condition that the resource is unchanged (RFC 9110 §13.1.5, §14.2).
    ///
    /// Appended content is not decoded, so the request accepts no content coding unless the program has set `Accept-Encoding`.
    package var request: URLRequest {
        var request = originalRequest
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        request.setValue("bytes=\(received)-", forHTTPHeaderField: "Range")
        request.setValue(validator.text, forHTTPHeaderField: "If-Range")
        return request
    }

    /// The request for the whole resource, as the program made it.
    var originalRequest: URLRequest {
        var request = URLRequest(url: url)
        request.headerList = HeaderList(fields)
        request.httpShouldHandleCookies = handlesCookies ?? true
        request.mainDocumentURL = mainDocument
        return request
    }

    /// Whether a download could have written these values.
    private var isValid: Bool {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", url.host != nil,
            received > 0, file.hasPrefix("/"), !file.utf8.contains(0), (said?.total ?? received) >= received
        else { return false }
        let texts = fields.flatMap { [$0.name, $0.value] } + [validator.text]
        // Rejects NUL, line feed and carriage return, which would end a field.
        return texts.allSatisfy { text in text.utf8.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D } }
    }
}
