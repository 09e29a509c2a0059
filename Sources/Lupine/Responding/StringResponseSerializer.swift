// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Reads a response's content as text.
///
/// The encoding is the one that was asked for, else the one that the response names, else ISO Latin-1, in which any bytes
/// are text.
public final class StringResponseSerializer: ResponseSerializer {
    /// What the content goes through first.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding to read the content in, whatever the response says; nil when the response decides.
    public let encoding: String.Encoding?
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// A serializer with these settings.
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

    /// The text; the empty text when there is no content and may be none. Throws `stringSerializationFailed` when the
    /// content is no text in the encoding.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        guard let content = try content(of: data, request: request, response: response, error: error) else {
            return ""
        }
        let named = response?.textEncodingName.flatMap { String.Encoding(ianaCharsetName: $0) }
        let encoding = encoding ?? named ?? .isoLatin1
        guard let text = Self.text(of: content, in: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// Where nothing but ASCII came the bytes are UTF-8 already, whichever of these two encodings was meant.
    private static func text(of content: Data, in encoding: String.Encoding) -> String? {
        if encoding == .isoLatin1 || encoding == .utf8, content.allSatisfy({ $0 < 0x80 }) {
            return String(decoding: content, as: UTF8.self)
        }
        return String(data: content, encoding: encoding)
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// Reads the content as text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Reads the content as text, with these settings.
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
