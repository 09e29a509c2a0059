// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// The response of a download, to be awaited.
///
/// Made by the `serializing…` methods. The download runs whether somebody waits or not; the response may be asked for any
/// number of times, by several tasks, in all three forms, and is always the same. Any thread.
public struct DownloadTask<Value: Sendable>: Sendable {
    private let request: DownloadRequest
    private let awaited: AwaitedResponse<DownloadResponse<Value, AFError>>
    /// That the request is cancelled when a task that waits is.
    private let shouldAutomaticallyCancel: Bool

    fileprivate init(
        of request: DownloadRequest, automaticallyCancelling shouldAutomaticallyCancel: Bool,
        handler: (@escaping @Sendable (DownloadResponse<Value, AFError>) -> Void) -> Void
    ) {
        self.request = request
        self.shouldAutomaticallyCancel = shouldAutomaticallyCancel
        let awaited = AwaitedResponse<DownloadResponse<Value, AFError>>()
        self.awaited = awaited
        // Before there is a handler, which would start the request.
        if shouldAutomaticallyCancel, Task.isCancelled { request.cancel() }
        handler { awaited.come($0) }
    }

    /// The response. If the task that waits is cancelled, so is the request, unless the response was asked for without
    /// automatic cancellation; it then comes as a failure.
    public nonisolated(nonsending) var response: DownloadResponse<Value, AFError> {
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

extension DownloadRequest {
    /// The file's content, to be awaited. Its parameters are those of `DataResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether the download is cancelled when a task that awaits it is.
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

    /// A value decoded from the file's content, to be awaited. Its parameters are those of
    /// `DecodableResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether the download is cancelled when a task that awaits it is.
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

    /// The file's content as text, to be awaited. Its parameters are those of `StringResponseSerializer`.
    ///
    /// `automaticallyCancelling` says whether the download is cancelled when a task that awaits it is.
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

    /// Where the file is, to be awaited. With no destination, that is a temporary file, which stays until it is removed.
    ///
    /// `automaticallyCancelling` says whether the download is cancelled when a task that awaits it is.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        serializingDownload(
            using: URLResponseSerializer(), automaticallyCancelling: shouldAutomaticallyCancel)
    }

    /// What the serializer makes of the file, to be awaited.
    ///
    /// `automaticallyCancelling` says whether the download is cancelled when a task that awaits it is.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            _ = appendResponse(on: nil, serializer, handler)
        }
    }

    /// What the serializer makes of the file, to be awaited.
    ///
    /// `automaticallyCancelling` says whether the download is cancelled when a task that awaits it is.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(of: self, automaticallyCancelling: shouldAutomaticallyCancel) { handler in
            _ = appendResponse(on: nil, serializer, handler)
        }
    }
}
