// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Streams.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct StreamSnippets {
    @Test func handlers() async throws {
        try await API.serve { api in
            let error: AFError? = await handed { hand in
                AF.streamRequest("\(api)/bytes/100000").responseStream { stream in
                    switch stream.event {
                    case .stream(.success(let data)): print("\(data.count) bytes")
                    case .complete(let completion):
                        print(completion.error ?? "the end")
                        hand(completion.error)  // not on the page
                    }
                }
            }
            #expect(error == nil)
        }
    }

    @Test func asynchronously() async throws {
        try await API.serve { api in
            var count = 0
            let task = AF.streamRequest("\(api)/bytes/100000").streamTask()
            for await stream in task.streamingData() {
                guard case .stream(.success(let data)) = stream.event else { continue }
                count += data.count
            }
            #expect(count == 100_000)
        }
    }

    @Test func lines() async throws {
        try await API.serve { api in
            api.answer(
                "/log", "application/x-ndjson", #"{"level": "info"}"# + "\n" + #"{"level": "error"}"# + "\n")
            var levels: [String] = []
            struct Entry: Decodable, Sendable {
                let level: String
            }

            let task = AF.streamRequest("\(api)/log").streamTask()
            for await stream in task.streamingResponses(serializedUsing: .ndjson(of: Entry.self)) {
                guard let entry = stream.value else { continue }
                print(entry.level)
                levels.append(entry.level)  // not on the page
            }
            #expect(levels == ["info", "error"])
        }
    }

    @Test func events() async throws {
        try await API.serve { api in
            var identifiers: [String] = []
            let position = EventStreamPosition()
            let request = AF.streamRequest(
                "\(api)/events", interceptor: Interceptor(adapters: [position], retriers: [RetryPolicy()]))
            for await stream in request.streamTask().streamingResponses(
                serializedUsing: .serverSentEvents(position: position))
            {
                guard let event = stream.value else { continue }
                print(event.type, event.data)
                identifiers.append(event.lastEventID)  // not on the page
            }
            #expect(identifiers == (1...10).map(String.init))
            #expect(position.lastEventID == "10")
        }
    }

    @Test func inputStreams() async throws {
        try await API.serve { api in
            let request = AF.streamRequest("\(api)/bytes/100000")
            let stream = request.asInputStream()
            stream?.close()
            request.cancel()
        }
    }
}
