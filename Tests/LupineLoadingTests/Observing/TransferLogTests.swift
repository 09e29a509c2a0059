// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// The lines of a log of transfers.
@Suite(.timeLimit(.minutes(10))) struct TransferLogTests {
    private struct Line: Sendable {
        let level: TransferLog.Level
        let text: String
    }

    /// Loads `paths` one after the other, with a log of this level, and returns its lines.
    private func lines(
        _ level: TransferLog.Level, _ paths: [String], plan: ScriptPlan? = nil, fields: [String: String] = [:]
    ) async throws -> [Line] {
        let written = LockedValue<[Line]>([])
        let observer = RecordingObserver()
        let configuration = URLSessionConfiguration.ephemeral
        // The log is called before the recorder, so its line is there when the recorder has the event.
        configuration.lupine.transferObservers = [
            TransferLog(level: level) { level, text in
                written.update { $0.append(Line(level: level, text: text)) }
            }, observer,
        ]
        try await withStage(plan, configuration: configuration) { stage in
            for (number, path) in paths.enumerated() {
                var request = URLRequest(url: try stage.url(path))
                for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
                _ = await stage.load(request)
                await observer.waitForEnds(number + 1)
            }
        }
        return written.value
    }

    @Test("[U-21.5] one line per event, the end with status, time and octets")
    func steps() async throws {
        let lines = try await lines(.debug, ["/bytes/12", "/bytes/3"])
        let texts = lines.map(\.text)
        #expect(texts.count == 9)
        #expect(lines.map(\.level) == [.debug, .debug, .debug, .debug, .info, .debug, .debug, .debug, .info])
        let id = texts[0].prefix { $0 != " " }
        #expect(texts[0].hasPrefix("\(id) GET http://origin.test:"))
        #expect(texts[0].contains("/bytes/12 starts, task 1") && id.hasPrefix("#"))
        #expect(
            texts[1].hasPrefix("\(id) opened a connection to origin.test port ")
                && texts[1].contains("(127.0.0.1:"))
        #expect(texts[2].hasPrefix("\(id) has a new connection; waited "))
        #expect(texts[3].hasPrefix("\(id) status 200, first byte after "))
        #expect(
            texts[4].hasPrefix("\(id) GET http://origin.test:") && texts[4].contains(" ended with 200 after ")
        )
        #expect(texts[4].hasSuffix("; sent 0, received 12 bytes"))
        #expect(texts[6].contains("has a kept connection; waited "))
    }

    @Test("[U-21.5] events below the log's level are not written")
    func levels() async throws {
        #expect(TransferLog.Level.allCases == [.debug, .info, .warning, .error])
        #expect(TransferLog.Level.debug < .info && TransferLog.Level.warning < .error)
        let info = try await lines(.info, ["/get", "/status/503"])
        #expect(info.map(\.level) == [.info, .warning])
        #expect(info[1].text.contains("/status/503 ended with 503 after "))
        let plan = ScriptPlan([
            Script([.expectHead, .reply("one"), .expectHead, .close]),
            Script([.expectHead, .reply("two"), .stall]),
        ])
        let warnings = try await lines(.warning, ["/a", "/b"], plan: plan)
        #expect(warnings.count == 1 && warnings.first?.level == .warning)
        #expect(warnings.first?.text.contains("is sent again on a new connection") == true)
        let errors = try await lines(
            .error, ["/a"], plan: ScriptPlan(.expectHead, .send("what?\r\n\r\n"), .stall))
        #expect(errors.count == 1 && errors.first?.level == .error)
        #expect(errors.first?.text.contains("/a failed after ") == true)
    }

    @Test("[U-21.5] a line contains no credentials, and input cannot add lines")
    func secrets() async throws {
        let evil = Script.Step.send("HTTP/1.1 200 OK\r\nX: \u{1B}[31m\r\nContent-Length: x\r\n\r\n")
        let secret = "s3cret"
        let paths = [
            "/get?access_token=\(secret)&page=2", "/get?page=2&api-key=\(secret)#f",
            "/get?Signature=\(secret)",
        ]
        let fields = ["Authorization": "Bearer \(secret)", "X-Api-Key": secret, "Cookie": "a=\(secret)"]
        var lines = try await lines(.debug, paths, fields: fields)
        #expect(lines.contains { $0.text.contains("?access_token=[redacted]&page=2") })
        lines += try await self.lines(
            .debug, ["/get?password=\(secret)"], plan: ScriptPlan(.expectHead, evil, .stall), fields: fields)
        #expect(lines.contains { $0.level == .error })
        for line in lines {
            #expect(!line.text.contains(secret))
            #expect(line.text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        }
    }
}
