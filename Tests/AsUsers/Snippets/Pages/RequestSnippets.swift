// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `MakingRequests.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct RequestSnippets {
    @Test func methods() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/anything/7", method: .put).serializingString().response
            #expect(response.request?.method == .put)
            #expect(response.value?.contains(#""method": "PUT""#) == true)
            let purge = HTTPMethod(rawValue: "PURGE")
            let answer = await AF.request("\(api)/anything", method: purge).serializingString().response
            #expect(answer.value?.contains("PURGE") == true)
        }
    }

    @Test func aModifierAndAURLRequest() async throws {
        try await API.serve { api in
            let request = AF.request("\(api)/get", requestModifier: { $0.timeoutInterval = 5 })
            _ = await request.serializingData().response
            #expect(request.request?.timeoutInterval == 5)
            var urlRequest = try URLRequest(
                url: "\(api)/anything", method: .post, headers: [.accept("text/plain")])
            urlRequest.httpBody = Data("colour=blue".utf8)
            let response = await AF.request(urlRequest).serializingString().response
            #expect(response.value?.contains("colour") == true)
        }
    }

    @Test func aCurlLine() async throws {
        try await API.serve { api in
            let text: String = await handed { hand in
                AF.request("\(api)/get")
                    .cURLDescription { line in
                        print(line)
                        hand(line)  // not on the page
                    }
                    .response { _ in }
            }
            #expect(text.hasPrefix("$ curl"))
        }
    }

    @Test func lifeOfARequest() async throws {
        try await API.serve { api in
            let request = AF.request("\(api)/delay/10").response { response in
                print(response.error?.isExplicitlyCancelledError ?? false)
            }
            request.suspend()
            request.resume()
            request.cancel()
            let error = await request.serializingData().response.error
            #expect(error?.isExplicitlyCancelledError == true)
            #expect(request.isCancelled || request.isFinished)
        }
    }

    @Test func numbers() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/bytes/1000").serializingData().response
            if let transaction = response.metrics?.transactionMetrics.last {
                print(transaction.isReusedConnection, transaction.networkProtocolName ?? "")
                print(transaction.countOfResponseBodyBytesReceived)
            }
            #expect(response.metrics?.transactionMetrics.last?.countOfResponseBodyBytesReceived == 1000)
        }
    }
}
