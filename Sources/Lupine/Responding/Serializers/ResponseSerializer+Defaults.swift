// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

// Default implementations for serializers. All of them run on the session's serialization queue.

/// The default methods and status codes whose responses may be empty. The sets are stored, because creating them for each request
/// takes time.
private enum EmptyResponseDefaults {
    static let requestMethods: Set<HTTPMethod> = [.head]
    static let responseCodes: Set<Int> = [204, 205]
}

extension ResponseSerializer {
    /// The default preprocessor, which leaves the content unchanged.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// The methods whose responses may be empty by default: `HEAD`.
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { EmptyResponseDefaults.requestMethods }
    /// The status codes whose responses may be empty by default: 204 and 205.
    public static var defaultEmptyResponseCodes: Set<Int> { EmptyResponseDefaults.responseCodes }

    /// Returns `defaultDataPreprocessor`.
    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    /// Returns `defaultEmptyRequestMethods`.
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    /// Returns `defaultEmptyResponseCodes`.
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Whether the request's method allows an empty response; nil when there is no request or no method.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request?.httpMethod.map { emptyRequestMethods.contains(HTTPMethod(rawValue: $0)) }
    }

    /// Whether the response's status code allows it to be empty; nil when there is no response.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        response.map { emptyResponseCodes.contains($0.statusCode) }
    }

    /// Whether the request's method or the response's status code allows an empty response.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
    }

    /// Returns the preprocessed content, or nil when there is no content and an empty response is allowed. Throws `error` if
    /// there is one, `inputDataNilOrZeroLength` when content is missing, and any error of the preprocessor.
    func content(
        of data: Data?, request: URLRequest?, response: HTTPURLResponse?, error: (any Error)?
    ) throws -> Data? {
        if let error { throw error }
        guard let data, !data.isEmpty else {
            guard emptyResponseAllowed(forRequest: request, response: response) else {
                throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
            }
            return nil
        }
        return try dataPreprocessor.preprocess(data)
    }
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
    /// Reads the whole file and serializes its content. An empty file is treated like a response without content.
    ///
    /// Throws `error` if there is one, `inputFileNil` if there is no file, and `inputFileReadFailed` if the file cannot be read.
    /// If the file is longer than the session's `collectedBodyLimit`, throws
    /// `customSerializationFailed(URLError.dataLengthExceedsMaximum)` and does not delete the file.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        let data: Data
        do {
            data = try DownloadedContent.read(fileURL, of: response?.url)
        } catch let error as URLError where error.code == .dataLengthExceedsMaximum {
            // The file can be read, but it is longer than the limit.
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}
