// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

// What a serializer need not say. All of it runs on the session's serialization queue.

/// What may be empty by default; made once, not for each request.
private enum EmptyByDefault {
    static let requestMethods: Set<HTTPMethod> = [.head]
    static let responseCodes: Set<Int> = [204, 205]
}

extension ResponseSerializer {
    /// What content goes through when nothing else is said: nothing.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// The methods whose responses may be empty when nothing else is said: `HEAD`.
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { EmptyByDefault.requestMethods }
    /// The status codes whose responses may be empty when nothing else is said: 204 and 205.
    public static var defaultEmptyResponseCodes: Set<Int> { EmptyByDefault.responseCodes }

    /// `defaultDataPreprocessor`.
    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    /// `defaultEmptyRequestMethods`.
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    /// `defaultEmptyResponseCodes`.
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Whether the request's method lets its response be empty; nil when there is no request, or no method.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request?.httpMethod.map { emptyRequestMethods.contains(HTTPMethod(rawValue: $0)) }
    }

    /// Whether the response's status code lets it be empty; nil when there is no response.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        response.map { emptyResponseCodes.contains($0.statusCode) }
    }

    /// Whether the response may be empty: the request or the response says so.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
    }

    /// The content to convert: what the preprocessor made of it, or nil when there is none and may be none. Throws
    /// `error` before all else, `inputDataNilOrZeroLength` when content is missing, and what the preprocessor throws.
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
    /// Reads the whole file and serializes what it holds. A download without a file fails with `inputFileNil`, a file
    /// that cannot be read with `inputFileReadFailed`, one that is longer than the session's `collectedBodyLimit` with
    /// `customSerializationFailed(URLError.dataLengthExceedsMaximum)`, and stays where it is; a file of no bytes is judged like
    /// a response without content.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        let data: Data
        do {
            data = try DownloadedContent.read(fileURL, of: response?.url)
        } catch let error as URLError where error.code == .dataLengthExceedsMaximum {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}
