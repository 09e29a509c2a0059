// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Concurrency.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct ConcurrencySnippets {
    @Test func values() async throws {
        try await API.serve { api in
            let task = AF.request("\(api)/get").serializingDecodable(Echo.self)
            let response = await task.response
            let result = await task.result
            let value = try await task.value
            #expect(response.value?.url == value.url)
            #expect(try result.get().url == value.url)
        }
    }

    @Test func several() async throws {
        try await API.serve { api in
            let sizes = await withTaskGroup(of: Int.self) { group in
                for count in [1, 20, 300] {
                    group.addTask {
                        await AF.request("\(api)/bytes/\(count)").serializingData().response.value?.count ?? 0
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(sizes == 321)
        }
    }

    @Test func cancelling() async throws {
        try await API.serve { api in
            let work = Task {
                try await AF.request("\(api)/delay/60").serializingData().value
            }
            work.cancel()
            let result = await work.result
            let error = #expect(throws: AFError.self) { try result.get() }
            #expect(error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func streams() async throws {
        try await API.serve { api in
            let request = AF.request("\(api)/bytes/100000")
            let progress = request.downloadProgress()
            let response = request.serializingData()
            for await step in progress {
                print(step.fractionCompleted)
            }
            let data = try await response.value
            #expect(data.count == 100_000)
        }
    }
}
