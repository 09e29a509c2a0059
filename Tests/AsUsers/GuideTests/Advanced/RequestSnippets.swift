// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// A request's states, progress, credentials, metrics and validation.
@Suite struct RequestSnippets {
    struct SomeType: Decodable, Sendable { let url: String? }

    @Test func statesAreFive() async throws {
        try await HTTPBin.serve { httpbin in
            let name: (Request.State) -> String = { state in
                switch state {
                case .initialized: "initialized"
                case .resumed: "resumed"
                case .suspended: "suspended"
                case .cancelled: "cancelled"
                case .finished: "finished"
                }
            }
            let request = AF.request("\(httpbin)/get")
            var seen = [name(request.state)]
            request.suspend()
            seen.append(name(request.state))
            request.resume()
            seen.append(name(request.state))
            _ = await request.serializingData().response
            seen.append(name(request.state))
            let cancelled = AF.request("\(httpbin)/get").cancel()
            seen.append(name(cancelled.state))
            // On a busy machine the response can arrive before the state is read.
            if seen[2] == "finished" { seen[2] = "resumed" }
            #expect(seen == ["initialized", "suspended", "resumed", "finished", "cancelled"])
            #expect(await cancelled.serializingData().response.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func progressIsTold() async throws {
        try await HTTPBin.serve { httpbin in
            let (steps, step) = AsyncStream.makeStream(of: String.self)
            AF.request("\(httpbin)/post", method: .post, parameters: ["foo": "bar"])
                .uploadProgress { progress in
                    print(progress)
                    if progress.isFinished { step.yield("sent") }
                }
                .downloadProgress { progress in
                    print(progress)
                    if progress.isFinished { step.yield("received") }
                }
                .responseDecodable(of: SomeType.self) { response in
                    debugPrint(response)
                    step.yield("decoded \(response.value?.url ?? "")")
                    step.finish()
                }
            var all: [String] = []
            for await next in steps where all.last != next { all.append(next) }
            #expect(all == ["sent", "received", "decoded \(httpbin)/post"])
        }
    }

    @Test func aNameAndAPasswordAnswerAChallenge() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<SomeType> = await handed { hand in
                AF.request("\(httpbin)/basic-auth/user@example.domain/password")
                    .authenticate(username: "user@example.domain", password: "password")
                    .responseDecodable(of: SomeType.self) { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(response.response?.statusCode == 200)
            #expect(response.error == nil)
        }
    }

    /// The guide writes `using`; the function is called `authenticate(with:)`.
    @Test func aCredentialAnswersAChallenge() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<SomeType> = await handed { hand in
                let credential = URLCredential(user: "user", password: "password", persistence: .none)
                AF.request("\(httpbin)/basic-auth/user/password")
                    .authenticate(with: credential)
                    .responseDecodable(of: SomeType.self) { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(response.response?.statusCode == 200)
            #expect(response.error == nil)
        }
    }

    @Test func everyTaskHasMetrics() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<SomeType> = await handed { hand in
                AF.request("\(httpbin)/get")
                    .responseDecodable(of: SomeType.self) { response in
                        print(response.metrics)
                        hand(response)
                    }
            }
            #expect(response.metrics?.transactionMetrics.first?.response != nil)
        }
    }

    @Test func aValidationIsAClosure() async throws {
        struct TooShort: Error {}
        let atLeast: (Int) -> DataRequest.Validation = { count in
            { _, _, data in (data?.count ?? 0) < count ? .failure(TooShort()) : .success(()) }
        }
        try await HTTPBin.serve { httpbin in
            let short = await AF.request("\(httpbin)/bytes/3").validate(atLeast(4)).serializingData().response
            #expect(short.error?.underlyingError is TooShort)
            let long = await AF.request("\(httpbin)/bytes/4").validate(atLeast(4)).serializingData().response
            #expect(long.error == nil)
        }
    }

    @Test func aValidationTrails() async throws {
        struct Refused: Error {}
        try await HTTPBin.serve { httpbin in
            let response = await AF.request("\(httpbin)/get")
                .validate { request, response, data in
                    guard request?.method == .get, response.statusCode == 200, data != nil else {
                        return .success(())
                    }
                    return .failure(Refused())
                }
                .serializingData().response
            #expect(response.error?.underlyingError is Refused)
            #expect(response.error?.isResponseValidationError == true)
        }
    }
}
