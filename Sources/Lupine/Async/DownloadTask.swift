// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Lets Swift tasks await the response of a download.
///
/// Created by the `serializing…` methods. The download runs even if no task awaits the response. Any number of tasks can await
/// the response, any number of times, as a response, a result or a value. All of them receive the same one. Can be used on any
/// thread.
public struct DownloadTask<Value: Sendable>: Sendable {
    private let request: DownloadRequest
    private let awaitedResponse: AwaitedResponse<DownloadResponse<Value, AFError>>
    /// Whether cancelling a waiting task cancels the request.
    private let shouldAutomaticallyCancel: Bool

    fileprivate init(
        of request: DownloadRequest, automaticallyCancelling shouldAutomaticallyCancel: Bool,
        addHandler: (@escaping @Sendable (DownloadResponse<Value, AFError>) -> Void) -> Void
    ) {
        self.request = request
        self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
        let awaitedResponse = AwaitedResponse<DownloadResponse<Value, AFError>>()
        self.awaitedResponse = awaitedResponse
        // A cancelled task cancels the request before the handler is added, because adding it may start the request.
        if shouldAutomaticallyCancel, Task.isCancelled { request.cancel() }
        addHandler { awaitedResponse.store($0) }
    }

    // The same as in `DataTask`: Alamofire declares both types, each with all of its members.

    /// The response. If the task that awaits the response is cancelled, and automatic cancellation is on, the request is
    /// cancelled. The response is then a failure.
    public nonisolated(nonsending) var response: DownloadResponse<Value, AFError> {
        get async { await awaitedResponse.response(cancelling: shouldAutomaticallyCancel ? request : nil) }
    }

    /// The result of the response. Cancellation works as for `response`.
    public nonisolated(nonsending) var result: Result<Value, AFError> {
        get async {
            await awaitedResponse.wait(cancelling: shouldAutomaticallyCancel ? request : nil)
            return awaitedResponse.storedResponse.result
        }
    }

    /// The value of the response. Throws the `AFError` of a failed response. Cancellation works as for `response`.
    public nonisolated(nonsending) var value: Value {
        get async throws {
            await awaitedResponse.wait(cancelling: shouldAutomaticallyCancel ? request : nil)
            return try awaitedResponse.storedResponse.result.get()
        }
    }

    /// Cancels the request, for all tasks that await it.
    public func cancel() { request.cancel() }

    /// Resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DownloadRequest {
    /// Returns a `DownloadTask` for the file's content as data. The parameters are those of `DataResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the download.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<Data> {
        serializingDownload(
            using: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DownloadTask` for a value decoded from the file. The parameters are those of `DecodableResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the download.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DownloadTask<Value> {
        serializingDownload(
            using: DecodableResponseSerializer<Value>(
                dataPreprocessor: dataPreprocessor, decoder: decoder,
                emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DownloadTask` for the file's content as text. The parameters are those of `StringResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the download.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<String> {
        serializingDownload(
            using: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding,
                emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DownloadTask` for the URL of the file. Without a destination it is a temporary file, which stays until it is
    /// removed.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the download.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(
            using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DownloadTask` for the value that the serializer makes from the file.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the download.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            // Without a queue, the request calls `handler` in its last step. The result is the request itself.
            _ = appendResponse(on: nil, serializer, handler)
        }
    }

    /// Returns a `DownloadTask` for the value that the serializer makes from the file.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the download.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            // Without a queue, the request calls `handler` in its last step. The result is the request itself.
            _ = appendResponse(on: nil, serializer, handler)
        }
    }
}
