// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation

// Response handlers with serializers for downloads. Each method adds a handler and resumes the request, if the session or the
// request resumes automatically. The serializers run on the session's serialization queue; all but that of `responseURL` read
// the whole file.
//
// The methods are the same as in `DataRequest+Responses`: Alamofire declares them for both kinds of request.

extension DownloadRequest {
    /// Adds a handler that receives the URL of the file, without reading the file.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - completionHandler: Called once, when the request and all its serializers have finished.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Adds a handler that receives the content as data.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: Changes the content before it is serialized.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - completionHandler: Called once, when the request and all its serializers have finished.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Data>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Adds a handler that receives the content as text.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: Changes the content before it is serialized.
    ///   - encoding: The encoding of the text; nil for the encoding that the response declares, or ISO Latin-1 if it declares
    ///     none.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - completionHandler: Called once, when the request and all its serializers have finished.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<String>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding,
                emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Adds a handler that receives the content as untyped JSON.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: Changes the content before it is serialized.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - options: Options for reading the JSON.
    ///   - completionHandler: Called once, when the request and all its serializers have finished.
    @available(*, deprecated, message: "Decode a type of your own with responseDecodable.")
    @preconcurrency
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .allowFragments,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: completionHandler)
    }

    /// Adds a handler that receives a value decoded from the content: from JSON, or from the format of another `decoder`
    /// such as `PropertyListDecoder`.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - queue: The queue on which the handler is called.
    ///   - dataPreprocessor: Changes the content before it is serialized.
    ///   - decoder: Decodes the value.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - completionHandler: Called once, when the request and all its serializers have finished.
    @preconcurrency
    @discardableResult
    public func responseDecodable<T: Decodable & Sendable>(
        of type: T.Type = T.self, queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<T>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: DecodableResponseSerializer<T>(
                dataPreprocessor: dataPreprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }
}
