// SPDX-License-Identifier: MIT

public import Foundation
public import LupineLoading

/// Makes a value of the response of a data or upload request. Called on the session's serialization queue.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// What is made.
    associatedtype SerializedObject: Sendable

    /// The value; what it throws fails the response: an `AFError` as it is, another error as
    /// `responseSerializationFailed(.customSerializationFailed)`. `error` is why the request has failed already.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject
}

/// Makes a value of the file of a download. Called on the session's serialization queue.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// What is made.
    associatedtype SerializedObject: Sendable

    /// The value; what it throws fails the response: an `AFError` as it is, another error as
    /// `responseSerializationFailed(.customSerializationFailed)`. `error` is why the request has failed already.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

/// A serializer of both kinds, which knows what to do before the work and when a response may be empty.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
{
    /// What the content goes through before it is serialized.
    var dataPreprocessor: any DataPreprocessor { get }
    /// The methods whose responses may be empty.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// The status codes whose responses may be empty.
    var emptyResponseCodes: Set<Int> { get }
}

/// Changes a response's content before it is serialized.
public protocol DataPreprocessor: Sendable {
    /// The content to go on with. What it throws fails the response.
    func preprocess(_ data: Data) throws -> Data
}
