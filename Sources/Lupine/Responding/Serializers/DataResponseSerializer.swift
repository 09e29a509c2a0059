// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Returns a response's content as data, after preprocessing.
public final class DataResponseSerializer: ResponseSerializer {
    /// Changes the content before it is serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    public init(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Whether the serializer returns the received content unchanged, without calling code of the program.
    var isPassthrough: Bool { type(of: dataPreprocessor) == PassthroughPreprocessor.self }

    /// Returns the content; empty data when there is no content and an empty response is allowed.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Data {
        try content(of: data, request: request, response: response, error: error) ?? Data()
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// A serializer that returns the content as data.
    public static var data: DataResponseSerializer { DataResponseSerializer() }

    /// Returns a serializer that returns the content as data.
    public static func data(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataResponseSerializer {
        DataResponseSerializer(
            dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
