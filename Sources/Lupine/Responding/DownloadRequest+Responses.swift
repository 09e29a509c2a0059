// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation

// The handlers of downloads that come with a serializer. Each is added to the request's, starts it where the session or
// the request says so, and has its serializer run on the session's serialization queue. All but `responseURL` read the
// whole file.

extension DownloadRequest {
    /// Gives where the file is, without reading it.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - completionHandler: Called once, when the request and all its serializers are done.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(
            queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Takes the content as it is.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: What the content goes through first.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - completionHandler: Called once, when the request and all its serializers are done.
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

    /// Reads the content as text.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: What the content goes through first.
    ///   - encoding: The text's encoding; when nil the one that the response names, else ISO Latin-1.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - completionHandler: Called once, when the request and all its serializers are done.
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

    /// Reads the content as JSON of any shape.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: What the content goes through first.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - options: How the JSON is read.
    ///   - completionHandler: Called once, when the request and all its serializers are done.
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

    /// Decodes the content: JSON, a property list with a `PropertyListDecoder`, or what the decoder understands.
    ///
    /// - Parameters:
    ///   - type: What is decoded.
    ///   - queue: Where the handler is called.
    ///   - dataPreprocessor: What the content goes through first.
    ///   - decoder: What decodes it.
    ///   - emptyResponseCodes: The status codes whose responses may be empty.
    ///   - emptyRequestMethods: The methods whose responses may be empty.
    ///   - completionHandler: Called once, when the request and all its serializers are done.
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
