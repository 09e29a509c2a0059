// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineHTTP2
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineTransport

/// HTTP/2 events other than messages, as observers receive them.
@Suite struct HTTP2NoticeTests {
    @Test("[U-21.1] a stream, settings, a window, GOAWAY and a reset are reported in order")
    func overHTTP2() async throws {
        let observer = RecordingObserver()
        let settings = [Setting(.maxConcurrentStreams, 7), Setting(.initialWindowSize, 0)]
        let plan = ScriptPlan(
            .expectRequest(1), .send(ServerFrames(settings).reply(1)), .expectRequest(3),
            // The window of the second stream is closed from the start.
            .send(ServerFrames.bare.frame(8, 3, [0, 0, 0, 12])), .expectFrame(type: 0, stream: 3),
            .send(ServerFrames.bare.goAway(last: 3).reset(3, .internalError)), .expectEnd)
        var serving = OriginConfiguration()
        serving.script = plan
        let origin = try OriginServer.start(configuration: serving)
        let client = HTTPClient(
            configuration: .with { settings in
                settings.versions = .http2
                settings.transferObservers = [observer]
            })
        #expect(try await client.get(origin.url + "/").body.text() == "ok")
        var request = try HTTPRequest(method: .post, url: origin.url + "/")
        request.body = .text("twelve bytes")
        await #expect(throws: TransportError.self) { _ = try await client.send(request) }
        await observer.waitForEnds(2)
        await client.shutdown()
        await origin.shutdown()
        let settingsNotice = HTTP2Notice.settings([
            HTTP2Notice.Parameter(name: "SETTINGS_MAX_CONCURRENT_STREAMS", value: 7),
            HTTP2Notice.Parameter(name: "SETTINGS_INITIAL_WINDOW_SIZE", value: 0),
        ])
        #expect(
            observer.notices == [
                .opened(stream: 1), settingsNotice, .opened(stream: 3), settingsNotice,
                .windowOpened(octets: 12),
                .goAway(last: 3, .noError), .reset(.internalError),
            ])
        #expect(observer.violations.isEmpty)
        #expect(
            observer.notices.map(\.description) == [
                "stream 1", "SETTINGS_MAX_CONCURRENT_STREAMS 7, SETTINGS_INITIAL_WINDOW_SIZE 0",
                "stream 3", "SETTINGS_MAX_CONCURRENT_STREAMS 7, SETTINGS_INITIAL_WINDOW_SIZE 0",
                "WINDOW_UPDATE, 12 octets may be sent", "GOAWAY behind stream 3 (NO_ERROR)",
                "RST_STREAM (INTERNAL_ERROR)",
            ])
    }

    @Test("[U-21.1] over HTTP/1.1 there are no notices") func overHTTP1() async throws {
        let observer = RecordingObserver()
        try await withStack(settings: .with { $0.transferObservers = [observer] }) { client, origin in
            _ = try await client.get(origin.url + "/get").body.collect()
            await observer.waitForEnds(1)
        }
        #expect(observer.notices.isEmpty && observer.names == [["start", "dial", "lease", "head", "end"]])
    }
}
