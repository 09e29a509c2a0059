// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Downloads whose content does not come directly from the connection into the file.
@Suite(.timeLimit(.minutes(10)))
struct DownloadSourcesTests {
    /// The source of the content.
    enum Source: CaseIterable, Sendable {
        case redirectNotFollowed, challengeNotAnswered, cache, dataURL, fileURL, protocolOfTheProgram
    }

    private static let text = String(repeating: "abcdefghijklmnopqrstuvwxyz\n", count: 4_000)
    private static let heads: [(path: String, head: String)] = [
        ("/moved", "302 Found\r\nLocation: /elsewhere\r\n"),
        ("/secret", "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\n"),
        ("/kept", "200 OK\r\nCache-Control: max-age=1000\r\n"),
    ]

    @Test(
        "[U-7.9, U-10.9, U-11.4, U-12.15] the content of a download is in its file, whatever its source",
        arguments: Source.allCases, TestedHTTP.allCases)
    func everySource(_ source: Source, over testedHTTP: TestedHTTP) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        for (path, head) in Self.heads {
            let head = "HTTP/1.1 \(head)Content-Length: \(Self.text.utf8.count)\r\n\r\n"
            origin.answer("GET", path, ScriptPlan(.send(head), .send(Self.text), .close))
        }
        let configuration = DriverLoad.configuration {
            $0.urlCache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0)
            $0.protocolClasses = [ScriptedProtocol.self]
            $0.lupine.httpVersions = testedHTTP.versions
        }
        let delegate = DownloadDelegate(refusesRedirects: true)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let result: Result<Void, any Error>
        do {
            let text = Self.text
            let address: String
            switch source {
            case .redirectNotFollowed: address = origin.url + "/moved"
            case .challengeNotAnswered: address = origin.url + "/secret"
            case .cache:
                address = origin.url + "/kept"
                let other = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil)
                _ = try await other.data(from: try #require(URL(string: address)))
                other.invalidateAndCancel()
            case .dataURL: address = "data:text/plain," + text.replacingOccurrences(of: "\n", with: "%0A")
            case .fileURL:
                try Data(text.utf8).write(to: file)
                address = file.absoluteString
            case .protocolOfTheProgram:
                let stage = ScriptedProtocol.register { play in
                    play.respond(200)
                    play.load(String(text.prefix(5)))
                    play.load(String(text.dropFirst(5)))
                    play.finish()
                }
                address = "http://\(stage.host)/"
            }
            session.downloadTask(with: try #require(URL(string: address))).resume()
            await delegate.log.wait(for: "complete")
            let count = text.utf8.count
            #expect(delegate.log.entries.suffix(3) == ["finished \(count) 0600", "metrics", "complete nil"])
            #expect(delegate.contents == [Data(text.utf8)] && delegate.sum == Int64(count))
            if source == .cache { #expect(origin.counts.requests == 1) }
            result = .success(())
        } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }
}
