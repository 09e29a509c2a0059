// SPDX-License-Identifier: MIT

package import Foundation

/// Where a download stopped and how to go on with it: what programs carry as an opaque `Data` (U-7.14).
///
/// It is good in another session and another process, as long as the partial file exists. Reading checks everything:
/// what a program hands in may be anything.
package struct ResumeData: Hashable, Sendable, Codable {
    /// What tells one version of a resource from another (RFC 9110 §8.8), word for word as the server said it.
    package enum Validator: Hashable, Sendable, Codable {
        /// A strong entity tag.
        case entityTag(String)
        /// The date of the last change.
        case lastModified(String)

        /// What `If-Range` says.
        package var text: String {
            switch self {
            case .entityTag(let text), .lastModified(let text): text
            }
        }
    }

    /// Where the resource is.
    package let url: URL
    /// The header fields that the program gave the request, in order.
    package let fields: [HeaderList.Field]
    /// Whether the storage's cookies went along, as far as it is known.
    private let handlesCookies: Bool?
    /// The document that the request was for, by which cookies of other sites are left out.
    private let mainDocument: URL?
    /// The version that the part is of.
    package let validator: Validator
    /// How many bytes there are.
    package let received: Int64
    /// The file that holds them.
    package let file: String
    /// What the answer to the request for the rest is held against. Nil in data that was made before it was noted: then the
    /// validator is all that is known.
    private let said: DownloadVersion?

    private static let magic = Array("lupine-download-1\n".utf8)
    /// A head of the longest kind that a request may have, and some.
    private static let longest = 1 << 20

    /// A place to go on from.
    ///
    /// - Parameters:
    ///   - url: Where the part came from.
    ///   - fields: The fields of the request that asked for it.
    ///   - validator: What the server named the version by.
    ///   - received: The octets of the part.
    ///   - file: Its path.
    ///   - version: All that is known of the version; nil where that is the validator.
    ///   - request: Handles cookies as what goes on from here is to; nil for as requests do.
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

    /// The version that the part is of, as far as it is known.
    package var version: DownloadVersion { said ?? DownloadVersion(validator) }

    /// Reads what `data` wrote; nil for anything else.
    package init?(_ data: Data) {
        guard data.count <= Self.longest, data.starts(with: Self.magic),
            let read = try? JSONDecoder().decode(Self.self, from: data.dropFirst(Self.magic.count)),
            read.isSound
        else { return nil }
        self = read
    }

    /// What a program keeps; nil when it would be too long to be read again.
    package var data: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(self), body.count + Self.magic.count <= Self.longest else {
            return nil
        }
        return Data(Self.magic) + body
    }

    /// The request that asks for the rest, if it is still the same resource (RFC 9110 §13.1.5, §14.2).
    ///
    /// Bytes are taken as they come, so no coding is asked for unless the program did.
    package var request: URLRequest {
        var request = requestForAll
        if request.value(forHTTPHeaderField: "Accept-Encoding") == nil {
            request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        request.setValue("bytes=\(received)-", forHTTPHeaderField: "Range")
        request.setValue(validator.text, forHTTPHeaderField: "If-Range")
        return request
    }

    /// The request that asks for all of it, as the program made it.
    var requestForAll: URLRequest {
        var request = URLRequest(url: url)
        request.headerList = HeaderList(fields)
        request.httpShouldHandleCookies = handlesCookies ?? true
        request.mainDocumentURL = mainDocument
        return request
    }

    /// Whether a download could have written this.
    private var isSound: Bool {
        guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", url.host != nil,
            received > 0, file.hasPrefix("/"), !file.utf8.contains(0), said?.total ?? received >= received
        else { return false }
        let texts = fields.flatMap { [$0.name, $0.value] } + [validator.text]
        return texts.allSatisfy { text in text.utf8.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D } }
    }
}
