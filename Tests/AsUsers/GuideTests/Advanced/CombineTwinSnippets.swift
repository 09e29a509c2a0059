// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The guide's Combine examples with Swift concurrency, because Linux has no Combine.
@Suite struct CombineTwinSnippets {
    struct DecodableType: Decodable, Sendable { let url: String }
    struct First: Decodable, Sendable { let uuid: String }
    struct Second: Decodable, Sendable { let url: String }

    /// `AF.request(...).publishDecodable(type: DecodableType.self)`
    @Test func aPublisherIsATask() async throws {
        try await HTTPBin.serve { httpbin in
            let request = AF.request("\(httpbin)/get")
            let response: DataResponse<DecodableType, AFError> =
                await request.serializingDecodable(DecodableType.self).response
            #expect(response.value?.url == "\(httpbin)/get")
            #expect(request.isFinished)
        }
    }

    /// `publisher.result()` and `publisher.value()`
    @Test func aTaskHasAResultAndAValue() async throws {
        try await HTTPBin.serve { httpbin in
            let task = AF.request("\(httpbin)/get").serializingDecodable(DecodableType.self)
            let result: Result<DecodableType, AFError> = await task.result
            let value: DecodableType = try await task.value
            #expect(try result.get().url == value.url)
            #expect(httpbin.origin.counts.requests == 1)

            let failing = AF.request("\(httpbin)/html").serializingDecodable(DecodableType.self)
            #expect(await !failing.result.isValid)
            await #expect(throws: AFError.self) { try await failing.value }
        }
    }

    /// `Publishers.CombineLatest(first, second)`: both at once.
    @Test func twoRequestsAtOnce() async throws {
        try await HTTPBin.serve { httpbin in
            // Neither is answered before both have arrived.
            for name in ["first", "second"] {
                httpbin.origin.script(
                    "GET", "/\(name)",
                    ScriptedMeeting.plan(
                        name, body: name == "first" ? #"{"uuid":"1"}"# : #"{"url":"2"}"#))
            }
            async let first = AF.request("\(httpbin)/first").serializingDecodable(First.self).response
            async let second = AF.request("\(httpbin)/second").serializingDecodable(Second.self).response
            await httpbin.origin.gate("first asked").wait()
            await httpbin.origin.gate("second asked").wait()
            httpbin.origin.gate("go").open()
            let both = await (first, second)
            debugPrint(both.0)
            debugPrint(both.1)
            #expect(both.0.value?.uuid == "1")
            #expect(both.1.value?.url == "2")
        }
    }

    /// `.value().flatMap { AF.request(...) }`: one after the other.
    @Test func oneRequestAfterTheOther() async throws {
        try await HTTPBin.serve { httpbin in
            let first = try await AF.request("\(httpbin)/uuid").serializingDecodable(First.self).value
            // Use the first value to create the second request.
            let second = await AF.request("\(httpbin)/anything/\(first.uuid)")
                .serializingDecodable(Second.self).response
            debugPrint(second)
            #expect(second.value?.url == "\(httpbin)/anything/\(first.uuid)")
        }
    }

    /// In Combine, a token that is released too early cancels the request; here, the task that awaits the response is
    /// cancelled.
    @Test func aCancelledTaskCancelsItsRequest() async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.origin.script("GET", "/first", ScriptedMeeting.plan("first", body: "{}"))
            let request = AF.request("\(httpbin)/first")
            let task = Task { await request.serializingDecodable(First.self).response }
            await httpbin.origin.gate("first asked").wait()
            task.cancel()
            let response = await task.value
            #expect(response.error?.isExplicitlyCancelledError == true, "\(response)")
            #expect(request.isCancelled)
        }
    }
}
