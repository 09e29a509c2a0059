// SPDX-License-Identifier: MIT

import Lupine
import LupineLoading
import Testing

/// The snippets of `HTTP2.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct HTTP2Snippets {
    @Test func versions() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            #expect(configuration.lupine.httpVersions == [.http11, .http2])  // not on the page
            configuration.lupine.httpVersions = .http11
            let session = Session(configuration: configuration)
            let response = await session.request("\(api)/get").serializingData().response
            let spoken = response.metrics?.transactionMetrics.last?.networkProtocolName
            let version = response.response?.lupine.version
            #expect(spoken == "http/1.1" && version == "HTTP/1.1")
        }
    }
}
