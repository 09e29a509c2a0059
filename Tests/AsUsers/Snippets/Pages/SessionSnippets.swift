// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Sessions.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct SessionSnippets {
    @Test func anOwnSession() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.timeoutIntervalForRequest = 10
            configuration.httpMaximumConnectionsPerHost = 16
            configuration.lupine.idleConnectionTimeout = .seconds(15)
            let session = Session(
                configuration: configuration, interceptor: .retryPolicy(retryLimit: 3),
                eventMonitors: [LoggingEventMonitor { line in print(line) }])
            let response = await session.request("\(api)/get").serializingData().response
            #expect(response.error == nil)
            #expect(session.sessionConfiguration.timeoutIntervalForRequest == 10)
        }
    }

    @Test func queues() async throws {
        try await API.serve { api in
            let session = Session(
                rootQueue: DispatchQueue(label: "org.example.root"),
                requestQueue: DispatchQueue(label: "org.example.requests"),
                serializationQueue: DispatchQueue(label: "org.example.serialization", attributes: .concurrent)
            )
            #expect(await session.request("\(api)/get").serializingData().response.error == nil)
        }
    }

    @Test func delegates() async throws {
        try await API.serve { api in
            let count: Int = await handed { hand in
                let session = Session(startRequestsImmediately: false)
                for _ in 1...3 { session.request("\(api)/get").response { _ in }.resume() }
                session.withAllRequests { requests in
                    print(requests.count)
                    hand(requests.count)  // not on the page
                }
                session.cancelAllRequests()
                withExtendedLifetime(session) {}
            }
            #expect(count <= 3)
        }
    }
}
