// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Converts a response's content to text.
///
/// The encoding of the content is `encoding`. If that is nil, it is the encoding that the response declares. If the response
/// declares none, it is ISO Latin-1, in which any bytes are valid text.
public final class StringResponseSerializer: ResponseSerializer {
    /// Changes the content before it is serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding of the content, whatever the response declares; nil to use the encoding that the response declares.
    public let encoding: String.Encoding?
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.encoding = encoding
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Returns the text; empty when there is no content and an empty response is allowed. Throws `stringSerializationFailed`
    /// when the content is not text in the encoding.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        guard let content = try content(of: data, request: request, response: response, error: error) else {
            return ""
        }
        let declaredEncoding = response?.textEncodingName.flatMap { String.Encoding(ianaCharsetName: $0) }
        let encoding = encoding ?? declaredEncoding ?? .isoLatin1
        guard let text = Self.text(of: content, in: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// Returns the text; nil when the content is not text in the encoding. ASCII content, which is the same in ISO Latin-1 and in
    /// UTF-8, is converted on a faster path.
    private static func text(of content: Data, in encoding: String.Encoding) -> String? {
        if encoding == .isoLatin1 || encoding == .utf8, content.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: content, as: UTF8.self)
        }
        return String(data: content, encoding: encoding)
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// A serializer that returns the content as text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Returns a serializer that returns the content as text.
    public static func string(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> StringResponseSerializer {
        StringResponseSerializer(
            dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
