// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTransport
import Testing

/// The snippets of `Timeouts.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct TimeoutSnippets {
    @Test func ofASession() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.timeoutIntervalForRequest = 15
            configuration.timeoutIntervalForResource = 120
            configuration.lupine.connectTimeout = .seconds(5)
            configuration.lupine.tls.handshakeTimeout = .seconds(5)
            configuration.lupine.idleConnectionTimeout = .seconds(20)
            let session = Session(configuration: configuration)
            let response = await session.request("\(api)/get").serializingData().response
            #expect(response.error == nil)
        }
    }

    @Test func ofARequest() async throws {
        try await API.serve { api in
            var clocks: [TransferTimeout] = []
            let response = await AF.request("\(api)/delay/3", requestModifier: { $0.timeoutInterval = 0.2 })
                .serializingData()
                .response
            let error = response.error?.underlyingError as? URLError
            let cause = error?.userInfo[NSUnderlyingErrorKey] as? TransportError
            if case .timedOut(let host, let port, let clock, let time)? = cause {
                print("\(host):\(port): \(clock), after \(time)")
                clocks.append(clock)  // not on the page
            }
            #expect(error?.code == .timedOut)
            #expect(clocks == [.idle])
        }
    }

    @Test func ofTheTransport() async throws {
        try await API.serve { api in
            var configuration = HTTPClient.Configuration()
            configuration.connectTimeout = .seconds(5)
            configuration.firstByteTimeout = .seconds(10)
            configuration.timeout = .seconds(60)
            let client = HTTPClient(configuration: configuration)
            let response = try await client.get("\(api)/get")
            await client.shutdown()
            #expect(response.status.code == 200)
        }
    }
}
