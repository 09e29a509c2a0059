// SPDX-License-Identifier: MIT

public import Foundation

/// The pieces of a stream as asynchronous sequences. Can be used on any thread.
///
/// Each `streaming…` method adds a handler to the request when it is called: the request may start at once, and received
/// data is buffered for the sequence. If more than `configuration.lupine.collectedBodyLimit` bytes are buffered before the
/// iteration starts, the request fails with `URLError.dataLengthExceedsMaximum`. During the iteration there is no such limit:
/// an iteration that is slower than the server slows the server down, as any slow handler does.
public struct DataStreamTask: Sendable {
    /// The events of a stream: its pieces, then its completion.
    public typealias Stream<Success, Failure: Error> = StreamOf<DataStreamRequest.Stream<Success, Failure>>

    private let request: DataStreamRequest

    fileprivate init(request: DataStreamRequest) { self.request = request }

    /// Returns the pieces of the content as they arrive.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<Data, Never>.BufferingPolicy = .unbounded
    ) -> Stream<Data, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            handler in
            request.responseStream(on: .streamCompletion(of: request), stream: handler)
        }
    }

    /// Returns the text of each piece, in whole characters: the beginning of a character whose end has not arrived is delivered
    /// with the next text.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingStrings(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<String, Never>.BufferingPolicy = .unbounded
    ) -> Stream<String, Never> {
        stream(automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy) {
            handler in
            request.responseStreamString(on: .streamCompletion(of: request), stream: handler)
        }
    }

    /// Returns the pieces as values, each decoded separately by a `JSONDecoder`.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
    public func streamingDecodables<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy = .unbounded
    ) -> Stream<T, AFError> {
        streamingResponses(
            serializedUsing: DecodableStreamSerializer<T>(),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }

    /// Returns the values that the serializer makes from the pieces.
    ///
    /// `automaticallyCancelling` says whether the request is cancelled when the iteration ends early.
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

    /// Cancels the request, which ends all its streams.
    public func cancel() { request.cancel() }

    /// Resumes the request.
    public func resume() { request.resume() }

    /// Suspends the request.
    public func suspend() { request.suspend() }

    /// Returns a sequence of the stream's events. `addHandler` adds a handler to the request, which passes the events to the
    /// sequence.
    private func stream<Success, Failure: Error>(
        automaticallyCancelling shouldAutomaticallyCancel: Bool,
        bufferingPolicy: Stream<Success, Failure>.BufferingPolicy,
        addHandler: (@escaping DataStreamRequest.Handler<Success, Failure>) -> Void
    ) -> Stream<Success, Failure> {
        let request = request
        let limit = request.collectedBodyLimit
        let bufferedBytes = BufferedByteCount(
            upTo: limit.bytes, onOverflow: { [weak request] in request?.fail(exceeding: limit) },
            changeBacklog: { [weak request] byteCount in request?.changeBacklog(by: byteCount) })
        return StreamOf(bufferingPolicy: bufferingPolicy, bufferedBytes: bufferedBytes) {
            // The iteration has ended before the request.
            if shouldAutomaticallyCancel { request.cancelUnlessEnded() }
        } source: { source in
            addHandler { stream in
                source.send(stream, weighing: stream.weight)
                if case .complete = stream.event { source.finish() }
            }
        }
    }
}

extension DataStreamRequest {
    /// Returns an object that provides the request's pieces as asynchronous sequences.
    public func streamTask() -> DataStreamTask { DataStreamTask(request: self) }
}
