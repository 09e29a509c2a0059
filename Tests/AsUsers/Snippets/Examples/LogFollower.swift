// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// Follows a log that is sent as server-sent events, and goes on behind the last line when the connection is cut.
struct LogFollower: Sendable {
    struct Line: Decodable, Sendable {
        let level: String
        let text: String
    }

    let address: URL
    let session: Session

    init(address: URL, session: Session = .default) {
        self.address = address
        self.session = session
    }

    /// The lines, until the server ends the log with 204, refuses it, or the consumer stops.
    func lines() -> AsyncStream<Line> {
        AsyncStream { continuation in
            let work = Task {
                let position = EventStreamPosition()
                var pause = 0.0
                while !Task.isCancelled, await follow(from: position, after: pause, into: continuation) {
                    // What the server has asked for, as far as it has.
                    pause = position.reconnectionTime ?? 1
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in work.cancel() }
        }
    }

    /// One connection. Whether there is to be another one.
    private func follow(
        from position: EventStreamPosition, after pause: TimeInterval,
        into continuation: AsyncStream<Line>.Continuation
    ) async -> Bool {
        let waiting = Adapter { request, _, completion in
            DispatchQueue.global().asyncAfter(deadline: .now() + pause) { completion(.success(request)) }
        }
        let request = session.streamRequest(
            address, headers: [.accept("text/event-stream")],
            interceptor: Interceptor(adapters: [waiting, position], retriers: []))
        let decoder = JSONDecoder()
        for await stream in request.validate().streamTask().streamingResponses(
            serializedUsing: .serverSentEvents(position: position))
        {
            if let event = stream.value,
                let line = try? decoder.decode(Line.self, from: Data(event.data.utf8))
            {
                continuation.yield(line)
            }
        }
        let status = request.response?.statusCode
        return status == nil || status == 200
    }
}
