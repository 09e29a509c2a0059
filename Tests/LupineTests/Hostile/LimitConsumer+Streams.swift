// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Streams: only the data that waits for a sequence is collected.
extension LimitConsumer {
    static let streams = [
        LimitConsumer("DataStreamRequest.responseStream", collects: false) { stage, path in
            await ended { end in
                stage.session.streamRequest(stage.url(path)).responseStream(on: stage.handlers) { end($0) }
            }
        },
        LimitConsumer("DataStreamRequest.responseStream", "DataStreamSerializer", collects: false) {
            stage, path in
            await ended { end in
                stage.session.streamRequest(stage.url(path)).responseStream(
                    using: PassthroughStreamSerializer(), on: stage.handlers
                ) { end($0) }
            }
        },
        LimitConsumer("DataStreamRequest.responseStreamString", collects: false) { stage, path in
            await ended { end in
                stage.session.streamRequest(stage.url(path)).responseStreamString(on: stage.handlers) {
                    end($0)
                }
            }
        },
        LimitConsumer("DataStreamRequest.responseStreamDecodable", collects: false) { stage, path in
            await ended { end in
                stage.session.streamRequest(stage.url(path)).responseStreamDecodable(
                    of: String.self, on: stage.handlers
                ) { end($0) }
            }
        },
        LimitConsumer("DataStreamRequest.asInputStream", collects: false) { stage, path in
            let request = stage.session.streamRequest(stage.url(path))
            stage.handlers.async {
                guard let stream = request.asInputStream() else { return }
                let reader = InputStreamReader(stream)
                while let piece = try? reader.next(atMost: 100), !piece.isEmpty {}
                reader.close()
            }
            return await ended { end in request.responseStream(on: stage.handlers) { end($0) } }
        },
        LimitConsumer("DataStreamTask.streamingData", "iterated", collects: false) { stage, path in
            let task = stage.session.streamRequest(stage.url(path)).streamTask()
            return await last(stage.iterating { task.streamingData() })
        },
        LimitConsumer("DataStreamTask.streamingStrings", "iterated", collects: false) { stage, path in
            let task = stage.session.streamRequest(stage.url(path)).streamTask()
            return await last(stage.iterating { task.streamingStrings() })
        },
        LimitConsumer("DataStreamTask.streamingDecodables", "iterated", collects: false) { stage, path in
            let task = stage.session.streamRequest(stage.url(path)).streamTask()
            return await last(stage.iterating { task.streamingDecodables(String.self) })
        },
        LimitConsumer("DataStreamTask.streamingResponses", "iterated", collects: false) { stage, path in
            let task = stage.session.streamRequest(stage.url(path)).streamTask()
            return await last(
                stage.iterating { task.streamingResponses(serializedUsing: PassthroughStreamSerializer()) })
        },
    ]

    static let gathered = [
        LimitConsumer("DataStreamTask.streamingData", "not iterated") { stage, path in
            await late(stage, path) { $0.streamingData() }
        },
        LimitConsumer("DataStreamTask.streamingStrings", "not iterated") { stage, path in
            await late(stage, path) { $0.streamingStrings() }
        },
        LimitConsumer("DataStreamTask.streamingDecodables", "not iterated") { stage, path in
            await late(stage, path) { $0.streamingDecodables(String.self) }
        },
        LimitConsumer("DataStreamTask.streamingResponses", "not iterated") { stage, path in
            await late(stage, path) {
                $0.streamingResponses(serializedUsing: PassthroughStreamSerializer())
            }
        },
    ]

    /// Returns the error in the completion that a stream's handler receives.
    private static func ended<Success, Failure>(
        _ body: (@escaping @Sendable (DataStreamRequest.Stream<Success, Failure>) -> Void) -> Void
    ) async -> (any Error)? {
        await called { answer in
            body { event in
                if case .complete(let completion) = event.event { answer(completion.error) }
            }
        }
    }

    /// Returns the error in the last event of a sequence.
    private static func last<Success, Failure>(
        _ events: consuming StreamOf<DataStreamRequest.Stream<Success, Failure>>.Iterator
    ) async -> (any Error)? {
        var error: (any Error)?
        while let event = await events.next() {
            if case .complete(let completion) = event.event { error = completion.error }
        }
        return error
    }

    /// Returns the error in the last event of a sequence that is iterated only after the whole stream has arrived.
    private static func late<Success, Failure>(
        _ stage: PipelineStage, _ path: String,
        _ stream: (DataStreamTask) -> StreamOf<DataStreamRequest.Stream<Success, Failure>>
    ) async -> (any Error)? {
        let request = stage.session.streamRequest(stage.url(path))
        let events = stream(request.streamTask())
        // This handler receives the completion when all handlers have received the data.
        _ = await ended { end in request.responseStream(on: stage.handlers) { end($0) } }
        return await last(events.makeAsyncIterator())
    }
}
