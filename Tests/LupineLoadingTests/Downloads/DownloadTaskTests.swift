// SPDX-License-Identifier: MIT

import Foundation
import LupineOrigin
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

/// Download tasks against an origin on this machine, through all layers.
struct DownloadTaskTests {
    private func withSession(
        _ delegate: (any URLSessionDelegate)? = nil, fields: [String: String] = [:],
        cookies: HTTPCookieStorage? = nil, over testedHTTP: TestedHTTP = .http1,
        _ body: (URLSession, LupineOrigin.Origin) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.waitPatiently()
        configuration.connectionProxyDictionary = [:]
        configuration.httpAdditionalHeaders = fields
        if testedHTTP == .http2 { configuration.lupine.httpVersions = .http2 }
        if let cookies { configuration.httpCookieStorage = cookies }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let result: Result<Void, any Error>
        do { result = .success(try await body(session, origin)) } catch { result = .failure(error) }
        session.invalidateAndCancel()
        await origin.shutdown()
        try result.get()
    }

    private func url(_ origin: LupineOrigin.Origin, _ path: String) throws -> URL {
        try #require(URL(string: origin.url + path))
    }

    private static func alphabet(_ count: Int) -> Data {
        Data((0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    }

    @Test(
        "[U-7.9, U-7.10, T-9] the delegate calls of a download, in order", arguments: TestedHTTP.allCases)
    func life(over testedHTTP: TestedHTTP) async throws {
        let delegate = DownloadDelegate()
        try await withSession(delegate, over: testedHTTP) { session, origin in
            let task = session.downloadTask(with: try url(origin, "/range/300000"))
            task.resume()
            await delegate.log.wait(for: "complete")
            let entries = delegate.log.entries
            let (writes, rest) = (entries.dropLast(3), Array(entries.suffix(3)))
            #expect(rest == ["finished 300000 0600", "metrics", "complete nil"])
            #expect(writes.allSatisfy { $0.hasPrefix("wrote") } && writes.last == "wrote 300000/300000")
            #expect(delegate.sum == 300_000)
            let place = try #require(delegate.places.first)
            #expect(!FileManager.default.fileExists(atPath: place.path), "it was not moved")
            #expect(task.countOfBytesReceived == 300_000)
        }
    }

    @Test(
        "[U-7.10] each progress is reported before the next one, however soon that follows",
        arguments: TestedHTTP.allCases) func steps(over testedHTTP: TestedHTTP)
        async throws
    {
        let delegate = DownloadDelegate()
        try await withSession(delegate, over: testedHTTP) { session, origin in
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n"
            let steps = (1...5).flatMap { [Script.Step.send("0123456789"), .waitForSignal("\($0)")] }
            origin.answer(
                "GET", "/steps", ScriptPlan([Script([.send(head)] + steps + [.send("0123456789"), .close])]))
            session.downloadTask(with: try url(origin, "/steps")).resume()
            for step in 1...5 {
                await delegate.log.wait(for: "wrote \(step)0/60")
                origin.gate("\(step)").open()
            }
            await delegate.log.wait(for: "complete")
            #expect(
                delegate.log.entries
                    == (1...6).map { "wrote \($0)0/60" } + ["finished 60 0600", "metrics", "complete nil"])
            #expect(delegate.sum == 60)
        }
    }

    @Test(
        "[U-7.9] responses of every final status are downloaded, also without content",
        arguments: ["/status/404", "/status/204"], TestedHTTP.allCases)
    func anyStatus(_ path: String, over testedHTTP: TestedHTTP) async throws {
        let delegate = DownloadDelegate()
        try await withSession(delegate, over: testedHTTP) { session, origin in
            session.downloadTask(with: try url(origin, path)).resume()
            await delegate.log.wait(for: "complete")
            #expect(delegate.log.entries.contains { $0.hasPrefix("finished") })
            #expect(delegate.log.entries.last == "complete nil")
        }
    }

    @Test("[U-9.10] coded content is decoded on its way into the file", arguments: TestedHTTP.allCases)
    func decoded(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (file, _) = try await session.download(from: url(origin, "/gzip"))
            defer { try? FileManager.default.removeItem(at: file) }
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            #expect(text.contains("\"gzipped\""))
        }
    }

    @Test("[U-4.7] the file of an awaited download belongs to the caller", arguments: TestedHTTP.allCases)
    func awaited(
        over testedHTTP: TestedHTTP
    ) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let (file, response) = try await session.download(from: url(origin, "/range/1000"))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try Data(contentsOf: file) == Self.alphabet(1000))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    @Test("[U-4.6] a handler gets the file, which is removed afterwards", arguments: TestedHTTP.allCases)
    func handler(over testedHTTP: TestedHTTP) async throws {
        try await withSession(over: testedHTTP) { session, origin in
            let url = try url(origin, "/range/1000")
            let (data, path) = await withCheckedContinuation { waiting in
                session.downloadTask(with: url) { file, _, _ in
                    waiting.resume(returning: (file.flatMap { try? Data(contentsOf: $0) }, file?.path ?? ""))
                }.resume()
            }
            #expect(data == Self.alphabet(1000))
            _ = await session.allTasks
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test(
        "[U-7.12, U-7.13, U-7.14] an interrupted download resumes where it stopped, in another session",
        arguments: TestedHTTP.allCases)
    func resumes(over testedHTTP: TestedHTTP) async throws {
        let delegate = DownloadDelegate()
        try await withSession(delegate, over: testedHTTP) { session, origin in
            let sent = Self.alphabet(100_000)
            let gate = "go"
            origin.answer(
                "GET", "/file",
                ScriptPlan([
                    Script([
                        .send(
                            "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n"
                        ), .send(Array(sent.prefix(40_000))), .waitForSignal(gate), .reset,
                    ]),
                    Script([
                        .send(
                            "HTTP/1.1 206 Partial Content\r\nContent-Length: 60000\r\nETag: \"v1\"\r\n"
                                + "Content-Range: bytes 40000-99999/100000\r\n\r\n"),
                        .send(Array(sent.suffix(60_000))), .close,
                    ]),
                ]))
            let task = session.downloadTask(with: try url(origin, "/file"))
            task.resume()
            await delegate.log.wait(for: "wrote 40000/100000")
            let data = await withCheckedContinuation { waiting in
                task.cancel { waiting.resume(returning: $0) }
            }
            let resumeData = try #require(data)
            await delegate.log.wait(for: "complete")
            let inError =
                (task.error as? URLError)?.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data
            #expect(inError == resumeData && (task.error as? URLError)?.code == .cancelled)
            origin.gate(gate).open()

            let second = DownloadDelegate()
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [:]
            configuration.lupine.httpVersions = testedHTTP.versions
            let other = URLSession(configuration: configuration, delegate: second, delegateQueue: nil)
            other.downloadTask(withResumeData: resumeData).resume()
            await second.log.wait(for: "complete")
            #expect(second.log.entries.first == "resumed 40000/100000")
            #expect(second.log.entries.suffix(3) == ["finished 100000 0600", "metrics", "complete nil"])
            #expect(second.contents.first == sent)
            other.invalidateAndCancel()
        }
    }

    @Test("[U-7.13] the error of a failed download contains resume data", arguments: TestedHTTP.allCases)
    func failureCarriesResumeData(over testedHTTP: TestedHTTP) async throws {
        let delegate = DownloadDelegate()
        try await withSession(delegate, over: testedHTTP) { session, origin in
            origin.answer(
                "GET", "/cut",
                ScriptPlan(
                    .send(
                        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nDate: Mon, 07 Nov 1994 08:49:37 GMT\r\n"
                            + "Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT\r\nAccept-Ranges: bytes\r\n\r\nabc"
                    ), .close))
            let task = session.downloadTask(with: try url(origin, "/cut"))
            task.resume()
            await delegate.log.wait(for: "complete")
            let error = try #require(task.error as? URLError)
            #expect(error.code == .networkConnectionLost)
            let data = error.errorUserInfo[NSURLSessionDownloadTaskResumeData] as? Data
            let resume = try #require(data.flatMap { ResumeData($0) })
            #expect(
                resume.received == 3 && resume.validator == .lastModified("Sunday, 06-Nov-94 08:49:37 GMT"))
            try FileManager.default.removeItem(atPath: resume.file)
        }
    }

    @Test(
        "[U-7.14] invalid resume data fails the task, which has no request",
        arguments: TestedHTTP.allCases) func noResumeData(over testedHTTP: TestedHTTP)
        async throws
    {
        try await withSession(over: testedHTTP) { session, _ in
            let task = session.downloadTask(withResumeData: Data("nonsense".utf8))
            #expect(task.originalRequest == nil && task.currentRequest == nil)
            let error = await #expect(throws: URLError.self) {
                _ = try await session.download(resumeFrom: Data("nonsense".utf8))
            }
            #expect(error?.code == .unsupportedURL)
        }
    }

    @Test("[U-7.12] `cancel()` leaves no file and no resume data", arguments: TestedHTTP.allCases)
    func plainCancel(
        over testedHTTP: TestedHTTP
    ) async throws {
        let delegate = DownloadDelegate()
        try await withSession(delegate, over: testedHTTP) { session, origin in
            origin.answer(
                "GET", "/stall",
                ScriptPlan(
                    .send(
                        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v\"\r\nAccept-Ranges: bytes\r\n\r\nabc"
                    ),
                    .stall))
            let task = session.downloadTask(with: try url(origin, "/stall"))
            task.resume()
            await delegate.log.wait(for: "wrote")
            task.cancel()
            await delegate.log.wait(for: "complete")
            let error = try #require(task.error as? URLError)
            #expect(error.code == .cancelled)
            #expect(error.errorUserInfo[NSURLSessionDownloadTaskResumeData] == nil)
            let lateResumeData = await withCheckedContinuation { waiting in
                task.cancel { waiting.resume(returning: $0) }
            }
            #expect(lateResumeData == nil, "it is over")
        }
    }

    @Test("[U-7.15] a data task becomes a download", arguments: TestedHTTP.allCases) func becomesDownload(
        over testedHTTP: TestedHTTP
    ) async throws {
        let delegate = DownloadDelegate(becomesDownload: true)
        try await withSession(delegate, over: testedHTTP) { session, origin in
            session.dataTask(with: try url(origin, "/range/200000")).resume()
            await delegate.log.wait(for: "complete")
            let entries = delegate.log.entries.filter { !$0.hasPrefix("wrote") }
            #expect(entries == ["became 1", "finished 200000 0600", "metrics", "complete nil"])
            #expect(delegate.contents.first == Self.alphabet(200_000))
        }
    }

    @Test(
        "[U-7.15, U-7.11] the resume data of a converted task contains nothing of its session",
        arguments: TestedHTTP.allCases)
    func convertedResumeData(over testedHTTP: TestedHTTP) async throws {
        let delegate = DownloadDelegate(becomesDownload: true)
        let storage = HTTPCookieStorage(file: nil)
        let fields = ["Authorization": "Bearer of-the-session"]
        try await withSession(delegate, fields: fields, cookies: storage, over: testedHTTP) {
            session, origin in
            let url = try url(origin, "/part")
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\n\r\n"
            origin.answer("GET", "/part", ScriptPlan([Script([.send(head + "01234"), .stall])]))
            let cookie = try #require(
                HTTPCookie(properties: [
                    .name: "session", .value: "s3cret", .domain: "127.0.0.1", .path: "/",
                ]))
            storage.setCookie(cookie)
            var request = URLRequest(url: url)
            request.setValue("own", forHTTPHeaderField: "X-Own")
            session.dataTask(with: request).resume()
            await delegate.log.wait(for: "wrote 5/10")
            let task = try #require(await session.allTasks.first as? URLSessionDownloadTask)
            let data = try #require(
                await withCheckedContinuation { waiting in
                    task.cancel { waiting.resume(returning: $0) }
                })
            let text = String(decoding: data, as: UTF8.self)
            #expect(text.contains("X-Own") && !text.contains("of-the-session") && !text.contains("s3cret"))
            URLSession.discardDownload(withResumeData: data)
        }
    }
}
