// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Converts the response of a data or upload request to a value. Called on the session's serialization queue.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Returns the value. A thrown error becomes the failure of the response: an `AFError` unchanged, another error wrapped in
    /// `responseSerializationFailed(.customSerializationFailed)`. `error` is the request's error; nil if the request has not
    /// failed.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject
}

/// Converts the file of a download to a value. Called on the session's serialization queue.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Returns the value. A thrown error becomes the failure of the response: an `AFError` unchanged, another error wrapped in
    /// `responseSerializationFailed(.customSerializationFailed)`. `error` is the request's error; nil if the request has not
    /// failed.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

/// A serializer for data requests and downloads, with a preprocessor and rules for empty responses.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
{
    /// Changes the content before it is serialized.
    var dataPreprocessor: any DataPreprocessor { get }
    /// The methods whose responses may be empty. A response without content fails with `inputDataNilOrZeroLength` unless its
    /// request's method or its status code allows it to be empty.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// The status codes whose responses may be empty.
    var emptyResponseCodes: Set<Int> { get }
}

/// Changes a response's content before it is serialized.
public protocol DataPreprocessor: Sendable {
    /// Returns the content to serialize. A thrown error fails the response.
    func preprocess(_ data: Data) throws -> Data
}
