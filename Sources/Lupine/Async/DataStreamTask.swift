// SPDX-License-Identifier: MIT

public import Foundation

/// The pieces of a stream as asynchronous sequences. Any thread.
///
/// Each `streaming…` method is a handler of the request from the moment of its call: the request may start at once, and
/// what comes is gathered for the sequence: more than `configuration.lupine.collectedBodyLimit` fails the request with
/// `URLError.dataLengthExceedsMaximum`. Once it is iterated, an iteration that is slower than the server slows it down, as any
/// handler does, and nothing is too much.
public struct DataStreamTask: Sendable {
    /// The events of a stream: its pieces, then its completion.
    public typealias Stream<Success, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

    private let request: DataStreamRequest

    fileprivate init(request: DataStreamRequest) { self.request = request }

    /// The pieces as they come.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Data, Never>.BufferingPolicy = .unbounded
    ) -> Stream<Data, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            handler in
            request.responseStream(on: .streamCompletion(of: request), stream: handler)
        }
    }

    /// The pieces as text, each for itself.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingStrings(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<String, Never>.BufferingPolicy = .unbounded
    ) -> Stream<String, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            handler in
            request.responseStreamString(on: .streamCompletion(of: request), stream: handler)
        }
    }

    /// The pieces as values, each decoded for itself by a `JSONDecoder`.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingDecodables<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy = .unbounded
    ) -> Stream<T, AFError> {
        streamingResponses(
            serializedUsing: DecodableStreamSerializer<T>(),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }

    /// What the serializer makes of the pieces.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the sequence is left early.
    public func streamingResponses<Serializer: DataStreamSerializer>(
        serializedUsing serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Serializer.SerializedObject, AFError>.BufferingPolicy = .unbounded
    ) -> Stream<Serializer.SerializedObject, AFError> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            handler in
            request.responseStream(
                using: serializer, on: .streamCompletion(of: request), stream: handler)
        }
    }

    /// Cancels the request, for all its streams.
    public func cancel() { request.cancel() }

    /// Resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }

    private func stream<Success, Failure: Error>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        bufferingPolicy: Stream<Success, Failure>.BufferingPolicy,
        adding: (@escaping DataStreamRequest.Handler<Success, Failure>) -> Void
    ) -> Stream<Success, Failure> {
        let request = request
        let limit = request.collectedBodyLimit
        let gathered = GatheredBytes(
            upTo: limit.bytes, overflow: { [weak request] in request?.fail(limit) },
            weigh: { [weak request] bytes in request?.weigh(bytes) })
        return StreamOf(bufferingPolicy: bufferingPolicy, gathered: gathered) {
            if shouldAutomaticallyCancel { request.cancelUnlessEnded() }
        } source: { source in
            adding { stream in
                source.send(stream, weighing: stream.weight)
                if case .complete = stream.event { source.finish() }
            }
        }
    }
}

extension DataStreamRequest {
    /// The request's pieces as asynchronous sequences.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}
