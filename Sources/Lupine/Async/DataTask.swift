// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// The response of a data or upload request, to be awaited.
///
/// Made by the `serializing…` methods. The request runs whether somebody waits or not; the response may be asked for any
/// number of times, by several tasks, in all three forms, and is always the same. Any thread.
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let awaited: AwaitedResponse<DataResponse<Value, AFError>>
    /// That the request is cancelled when a task that waits is.
    private let shouldAutomaticallyCancel: Bool

    fileprivate init(
        of request: DataRequest, automaticallyCancelling shouldAutomaticallyCancel: Bool,
        handler: (@escaping @Sendable (DataResponse<Value, AFError>) -> Void) -> Void
    ) {
        self.request = request
        self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
        let awaited = AwaitedResponse<DataResponse<Value, AFError>>()
        self.awaited = awaited
        // Before there is a handler, which would start the request.
        if shouldAutomaticallyCancel, Task.isCancelled { request.cancel() }
        handler { awaited.come($0) }
    }

    /// The response. If the task that waits is cancelled, so is the request, unless the response was asked for without
    /// automatic cancellation; it then comes as a failure.
    public nonisolated(nonsending) var response: DataResponse<Value, AFError> {
        get async { await awaited.response(cancelling: shouldAutomaticallyCancel ? request : nil) }
    }

    /// The response's result. Waiting is as for `response`.
    public nonisolated(nonsending) var result: Result<Value, AFError> {
        get async {
            await awaited.come(cancelling: shouldAutomaticallyCancel ? request : nil)
            return awaited.arrived.result
        }
    }

    /// The response's value; throws its `AFError`. Waiting is as for `response`.
    public nonisolated(nonsending) var value: Value {
        get async throws {
            await awaited.come(cancelling: shouldAutomaticallyCancel ? request : nil)
            return try awaited.arrived.result.get()
        }
    }

    /// Cancels the request, for all who wait for it.
    public func cancel() { request.cancel() }

    /// Resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }
}

extension DataRequest {
    /// The response's content, to be awaited. Its parameters are those of `DataResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when a task that awaits it is.
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

    /// A value decoded from the response's content, to be awaited. Its parameters are those of
    /// `DecodableResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when a task that awaits it is.
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

    /// The response's content as text, to be awaited. Its parameters are those of `StringResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when a task that awaits it is.
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

    /// What the serializer makes of the response, to be awaited.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when a task that awaits it is.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> {
        DataTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            _ = appendResponse(on: nil, serializer, handler)
        }
    }

    /// What the serializer makes of the response, to be awaited.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when a task that awaits it is.
    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> {
        DataTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            _ = appendResponse(on: nil, serializer, handler)
        }
    }
}
