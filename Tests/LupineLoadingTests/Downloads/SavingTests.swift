// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import LupineLoading

/// Data tasks whose content is written to a file of the program.
@Suite(.timeLimit(.minutes(10)))
struct SavingTests {
    /// A delegate that records the calls of a data task.
    private final class Listener: NSObject, URLSessionDataDelegate {
        let log = CallLog()
        private let disposition: URLSession.ResponseDisposition

        init(_ disposition: URLSession.ResponseDisposition = .allow) { self.disposition = disposition }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            log.add("response")
            completionHandler(disposition)
        }
        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            log.add("data")
        }
        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
        {
            log.add("complete \((error as? URLError).map { "\($0.code.rawValue)" } ?? "nil")")
        }
    }

    private static let text = String(repeating: "abcdefghijklmnopqrstuvwxyz\n", count: 40_000)

    /// Loads `path` into a file that holds `begin`, opened by `open`; returns the content of the file afterwards.
    private func load(
        _ path: String, _ listener: Listener, behind begin: String = "", cached: URLCache? = nil,
        over testedHTTP: TestedHTTP,
        open: @escaping @Sendable (URL) throws -> FileHandle? = { file in
            let handle = try FileHandle(forWritingTo: file)
            try handle.seekToEnd()
            return handle
        }
    ) async throws -> (content: Data, received: Int64) {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        origin.answer(
            "GET", "/long",
            ScriptPlan(
                .send(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=99\r\nContent-Length: \(Self.text.utf8.count)\r\n\r\n"
                ),
                .send(Self.text), .close))
        origin.answer(
            "GET", "/until-close", ScriptPlan(.send("HTTP/1.1 200 OK\r\n\r\n"), .send(Self.text), .close))
        origin.answer(
            "GET", "/cut",
            ScriptPlan(
                .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"), .send("begun"),
                .waitForSignal("kept"),
                .close))
        let file = FileManager.default.temporaryDirectory.appending(path: "saving-\(UUID().uuidString)")
        try Data(begin.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let session = URLSession(
            configuration: DriverLoad.configuration {
                $0.urlCache = cached
                $0.lupine.httpVersions = testedHTTP.versions
            }, delegate: listener, delegateQueue: nil)
        let handle = LockedValue<FileHandle?>(nil)
        let task = session.dataTask(with: URLRequest(url: try #require(URL(string: origin.url + path)))) {
            _ in
            let opened = try? open(file)
            handle.update { $0 = opened }
            return opened
        }
        task.resume()
        if path == "/cut" {
            // The end of an HTTP/2 connection discards content that has not been delivered, so the script waits for the delivery.
            while task.countOfBytesReceived < 5, task.state != .completed { await Task.yield() }
            origin.gate("kept").open()
        }
        await listener.log.wait(for: "complete")
        session.invalidateAndCancel()
        await origin.shutdown()
        try handle.value?.close()
        return (try DownloadDelegate.content(of: file), task.countOfBytesReceived)
    }

    @Test(arguments: ["/long", "/until-close"], TestedHTTP.allCases)
    func contentIsAppendedToTheFile(_ path: String, over testedHTTP: TestedHTTP) async throws {
        let listener = Listener()
        let (content, received) = try await load(path, listener, behind: "head\n", over: testedHTTP)
        #expect(content == Data(("head\n" + Self.text).utf8))
        #expect(received == Int64(Self.text.utf8.count))
        #expect(listener.log.entries == ["response", "complete nil"])
    }

    @Test(arguments: TestedHTTP.allCases) func codedContentIsDecoded(over testedHTTP: TestedHTTP) async throws
    {
        let listener = Listener()
        let (content, received) = try await load("/gzip", listener, over: testedHTTP)
        #expect(String(decoding: content, as: UTF8.self).contains("\"gzipped\": true"))
        #expect(received == Int64(content.count))
        #expect(listener.log.entries == ["response", "complete nil"])
    }

    @Test(arguments: TestedHTTP.allCases) func contentWithoutALengthIsSavedToo(over testedHTTP: TestedHTTP)
        async throws
    {
        let listener = Listener()
        let (content, _) = try await load("/stream/3", listener, over: testedHTTP)
        #expect(String(decoding: content, as: UTF8.self).split(separator: "\n").count == 3)
        #expect(listener.log.entries == ["response", "complete nil"])
    }

    @Test(arguments: TestedHTTP.allCases) func withoutAFileTheDelegateGetsTheContent(
        over testedHTTP: TestedHTTP
    )
        async throws
    {
        let listener = Listener()
        let (content, received) = try await load("/long", listener, behind: "kept", over: testedHTTP) { _ in
            nil
        }
        #expect(content == Data("kept".utf8) && received == Int64(Self.text.utf8.count))
        #expect(listener.log.entries.contains("data") && listener.log.entries.last == "complete nil")
    }

    @Test(arguments: TestedHTTP.allCases) func aRefusedResponseOpensNoFile(over testedHTTP: TestedHTTP)
        async throws
    {
        let listener = Listener(.cancel)
        let isAsked = LockedValue(false)
        let (content, _) = try await load("/long", listener, behind: "kept", over: testedHTTP) { _ in
            isAsked.update { $0 = true }
            return nil
        }
        #expect(content == Data("kept".utf8) && !isAsked.value)
        #expect(listener.log.entries == ["response", "complete \(URLError.Code.cancelled.rawValue)"])
    }

    @Test(arguments: ["/long", "/gzip"], TestedHTTP.allCases)
    func aFullDiskFailsTheTask(_ path: String, over testedHTTP: TestedHTTP) async throws {
        let listener = Listener()
        _ = try await load(path, listener, over: testedHTTP) { _ in FileHandle(forWritingAtPath: "/dev/full")
        }
        #expect(listener.log.entries == ["response", "complete \(URLError.Code.cannotWriteToFile.rawValue)"])
    }

    /// Checks that a pipe is refused, since writing to one may block.
    @Test(arguments: TestedHTTP.allCases) func aPipeIsRefused(over testedHTTP: TestedHTTP) async throws {
        let listener = Listener()
        let pipe = Pipe()
        _ = try await load("/long", listener, over: testedHTTP) { _ in pipe.fileHandleForWriting }
        #expect(listener.log.entries == ["response", "complete \(URLError.Code.cannotOpenFile.rawValue)"])
    }

    @Test(arguments: [true, false], TestedHTTP.allCases)
    func anUnwritableFileFailsTheTask(isClosed: Bool, over testedHTTP: TestedHTTP) async throws {
        let listener = Listener()
        let (content, _) = try await load("/long", listener, behind: "kept", over: testedHTTP) { file in
            guard isClosed else { return try FileHandle(forReadingFrom: file) }
            let handle = try FileHandle(forWritingTo: file)
            try handle.close()
            return handle
        }
        #expect(content == Data("kept".utf8))
        #expect(listener.log.entries == ["response", "complete \(URLError.Code.cannotOpenFile.rawValue)"])
    }

    @Test(arguments: TestedHTTP.allCases) func partialContentIsKept(over testedHTTP: TestedHTTP) async throws
    {
        let listener = Listener()
        let (content, received) = try await load("/cut", listener, over: testedHTTP)
        #expect(content == Data("begun".utf8) && received == 5)
        #expect(
            listener.log.entries == ["response", "complete \(URLError.Code.networkConnectionLost.rawValue)"])
    }

    @Test(arguments: TestedHTTP.allCases) func savedContentIsNotCached(over testedHTTP: TestedHTTP)
        async throws
    {
        let cache = URLCache(memoryCapacity: 16 << 20, diskCapacity: 0)
        _ = try await load("/long", Listener(), cached: cache, over: testedHTTP)
        #expect(cache.currentMemoryUsage == 0)
    }
}
