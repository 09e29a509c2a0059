// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Lets Swift tasks await the response of a data or upload request.
///
/// Created by the `serializing…` methods. The request runs even if no task awaits the response. Any number of tasks can await the
/// response, any number of times, as a response, a result or a value. All of them receive the same one. Can be used on any
/// thread.
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let awaitedResponse: AwaitedResponse<DataResponse<Value, AFError>>
    /// Whether cancelling a waiting task cancels the request.
    private let shouldAutomaticallyCancel: Bool

    fileprivate init(
        of request: DataRequest, automaticallyCancelling shouldAutomaticallyCancel: Bool,
        addHandler: (@escaping @Sendable (DataResponse<Value, AFError>) -> Void) -> Void
    ) {
        self.request = request
        self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
        let awaitedResponse = AwaitedResponse<DataResponse<Value, AFError>>()
        self.awaitedResponse = awaitedResponse
        // A cancelled task cancels the request before the handler is added, because adding it may start the request.
        if shouldAutomaticallyCancel, Task.isCancelled { request.cancel() }
        addHandler { awaitedResponse.store($0) }
    }

    // The same as in `DownloadTask`: Alamofire declares both types, each with all of its members.

    /// The response. If the task that awaits the response is cancelled, and automatic cancellation is on, the request is
    /// cancelled. The response is then a failure.
    public nonisolated(nonsending) var response: DataResponse<Value, AFError> {
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

extension DataRequest {
    /// Returns a `DataTask` for the content as data. The parameters are those of `DataResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the request.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        serializingResponse(
            using: DataResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DataTask` for a value decoded from the content. The parameters are those of `DecodableResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the request.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DataTask<Value> {
        serializingResponse(
            using: DecodableResponseSerializer<Value>(
                dataPreprocessor: dataPreprocessor, decoder: decoder,
                emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DataTask` for the content as text. The parameters are those of `StringResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the request.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<String> {
        serializingResponse(
            using: StringResponseSerializer(
                dataPreprocessor: dataPreprocessor, encoding: encoding,
                emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// Returns a `DataTask` for the value that the serializer makes from the response.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the request.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> {
        DataTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            // Without a queue, the request calls `handler` in its last step. The result is the request itself.
            _ = appendResponse(on: nil, serializer, handler)
        }
    }

    /// Returns a `DataTask` for the value that the serializer makes from the response.
    ///
    /// `automaticallyCancelling` says whether cancelling a task that awaits the response cancels the request.
    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> {
        DataTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            // Without a queue, the request calls `handler` in its last step. The result is the request itself.
            _ = appendResponse(on: nil, serializer, handler)
        }
    }
}
