// SPDX-License-Identifier: MIT

import Lupine
import LupineTransport
import Testing

/// The snippets of `Executors.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct ExecutorSnippets {
    @Test func aTask() async throws {
        try await API.serve { api in
            let session = Session()
            let size = try await Task(executorPreference: session.executor) {
                try await session.request("\(api)/bytes/1000").serializingData().value.count
            }.value
            #expect(size == 1_000)
        }
    }

    @Test func several() async throws {
        try await API.serve { api in
            let session = Session()
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for count in [1, 20, 300] {
                    group.addTask(executorPreference: session.executor) {
                        try await session.request("\(api)/bytes/\(count)").serializingData().value.count
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(total == 321)
        }
    }

    @Test func aClient() async throws {
        try await API.serve { api in
            let client = HTTPClient()
            let text = try await withTaskExecutorPreference(client.executor) {
                try await client.get("\(api)/get").body.text()
            }
            #expect(text.contains("/get"))
            await client.shutdown()
        }
    }
}
