// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// The files that downloads are moved to.
struct DownloadDestinationTests {
    /// Records the operations on files, and can refuse to move them.
    private final class NotingManager: FileManager, @unchecked Sendable {
        let calls = ValueLog<String>()

        override func removeItem(at URL: URL) throws {
            calls.add("remove \(URL.lastPathComponent)")
            try super.removeItem(at: URL)
        }

        override func createDirectory(
            at url: URL, withIntermediateDirectories createIntermediates: Bool,
            attributes: [FileAttributeKey: Any]? = nil
        ) throws {
            calls.add("folder \(url.lastPathComponent) \(createIntermediates)")
            try super.createDirectory(
                at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
        }

        override func moveItem(at srcURL: URL, to dstURL: URL) throws {
            calls.add("move to \(dstURL.lastPathComponent)")
            try super.moveItem(at: srcURL, to: dstURL)
        }
    }

    @Test(
        "[DL-1] without a destination the file is renamed within the temporary directory",
        arguments: TestedHTTP.allCases)
    func byDefault(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let response = await stage.session.download(stage.url("/range/1000")).moved()
            let file = try #require(response.fileURL)
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(file.lastPathComponent.hasPrefix("Alamofire_LupineDownload-"))
            #expect(
                file.deletingLastPathComponent().path
                    == FileManager.default.temporaryDirectory.standardizedFileURL.path)
            #expect(try Data(contentsOf: file).count == 1000)
            #expect(response.value == file)
        }
    }

    @Test(
        "[DL-1] the file of a retried attempt is removed, that of the last attempt is kept",
        arguments: TestedHTTP.allCases)
    func retried(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            stage.origin.answer(
                "GET", "/flaky",
                ScriptPlan([
                    Script([.send("HTTP/1.1 503 Later\r\nContent-Length: 5\r\n\r\nfirst"), .close]),
                    Script([.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlast"), .close]),
                ]))
            let first = ValueLog<URL>()
            let retrier = Retrier { request, _, _, completion in
                if let file = (request as? DownloadRequest)?.fileURL,
                    FileManager.default.fileExists(atPath: file.path)
                {
                    first.add(file)
                }
                completion(request.retryCount < 1 ? .retry : .doNotRetry)
            }
            let request = stage.session.download(
                stage.url("/flaky"), interceptor: Interceptor(retriers: [retrier]))
            let response = await request.validate().moved()
            let file = try #require(response.fileURL)
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try Data(contentsOf: file) == Data("last".utf8))
            let forgotten = try #require(first.all.first)
            #expect(forgotten != file && !FileManager.default.fileExists(atPath: forgotten.path))
        }
    }

    @Test(
        "[DL-2] the suggested destination is a directory of the user, or the temporary file's if there is none"
    )
    func suggested() throws {
        let temporary = URL(fileURLWithPath: "/tmp/some.tmp")
        let address = try #require(URL(string: "http://a.test/b/file.bin"))
        let response = try #require(
            HTTPURLResponse(
                url: address, statusCode: 200, httpVersion: nil,
                headerFields: ["Content-Disposition": "attachment; filename=\"other.bin\""]))
        let folder = try #require(
            FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first)
        let place = DownloadRequest.suggestedDownloadDestination(
            for: .cachesDirectory, options: [.removePreviousFile])(temporary, response)
        #expect(place.destinationURL == folder.appendingPathComponent("other.bin"))
        #expect(place.options == .removePreviousFile)
        let nowhere = DownloadRequest.suggestedDownloadDestination(in: [])(temporary, response)
        #expect(nowhere.destinationURL == temporary && nowhere.options == [])
        #expect(DownloadRequest.Options.createIntermediateDirectories.rawValue == 1)
        #expect(DownloadRequest.Options.removePreviousFile.rawValue == 2)
    }

    @Test(
        "[DL-3] the destination closure is called on the root queue, once per attempt with a response",
        arguments: TestedHTTP.allCases)
    func asked(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            var setUp = PipelineSetUp()
            setUp.interceptor = ScriptedInterceptor(answers: [.retry])
            try await withPipeline(setUp, over: testedHTTP) { stage async throws in
                let asked = ValueLog<Int>()
                let root = stage.session.rootQueue
                let response = await stage.download("/status/503") { _, response in
                    dispatchPrecondition(condition: .onQueue(root))
                    asked.add(response.statusCode)
                    return (folder.appendingPathComponent("file"), .removePreviousFile)
                }.validate().moved()
                #expect(brief(response.error) == "status 503")
                #expect(asked.all == [503, 503])
            }
        }
    }

    @Test(
        "[DL-3] the destination closure is not called without an HTTP response",
        arguments: TestedHTTP.allCases)
    func fileURL(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let source = folder.appendingPathComponent("source")
                try Data("content".utf8).write(to: source)
                let asked = ValueLog<String>()
                let response = await stage.session.download(
                    source.absoluteString,
                    to: { url, _ in
                        asked.add("asked")
                        return (url, [])
                    }
                ).moved()
                let file = try #require(response.fileURL)
                defer { try? FileManager.default.removeItem(at: file) }
                #expect(asked.all.isEmpty && file.lastPathComponent.hasPrefix("Alamofire_"))
                #expect(try Data(contentsOf: file) == Data("content".utf8))
            }
        }
    }

    @Test(
        "[DL-4] the delegate's file manager removes a previous file, creates folders, and moves the file"
    )
    func order() async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline { stage async throws in
                let manager = NotingManager()
                let configuration = URLSessionConfiguration.ephemeral
                configuration.connectionProxyDictionary = [:]
                let session = Session(
                    configuration: configuration, delegate: SessionDelegate(fileManager: manager))
                let place = folder.appendingPathComponent("a/b")
                try FileManager.default.createDirectory(
                    at: folder.appendingPathComponent("a"), withIntermediateDirectories: true)
                try Data("old".utf8).write(to: place)
                let address = "http://127.0.0.1:\(stage.origin.port)/range/10"
                let response = await session.download(
                    address, to: { _, _ in (place, [.createIntermediateDirectories, .removePreviousFile]) }
                ).moved()
                #expect(response.fileURL == place)
                #expect(manager.calls.all == ["remove b", "folder a true", "move to b"])
                #expect(try Data(contentsOf: place) == Data("abcdefghij".utf8))
                let deep = folder.appendingPathComponent("c/d/e")
                _ = await session.download(
                    address, to: { _, _ in (deep, .createIntermediateDirectories) }
                ).moved()
                #expect(try Data(contentsOf: deep).count == 10)
                #expect(manager.calls.all.dropFirst(3) == ["folder d true", "move to e"])
                session.session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "[DL-5, DL-6] with a missing folder or an existing file the move fails and changes nothing",
        arguments: TestedHTTP.allCases)
    func failures(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let taken = folder.appendingPathComponent("taken")
                try Data("old".utf8).write(to: taken)
                for (place, code) in [
                    (folder.appendingPathComponent("missing/file"), CocoaError.Code.fileNoSuchFile),
                    (taken, .fileWriteFileExists),
                ] {
                    let seen = ValueLog<URL>()
                    let response = await stage.download("/range/10") { url, _ in
                        seen.add(url)
                        return (place, [])
                    }.validate().moved()
                    guard
                        case .downloadedFileMoveFailed(let error, let source, let destination) = response
                            .error
                    else {
                        Issue.record("\(String(describing: response.error))")
                        continue
                    }
                    #expect((error as? CocoaError)?.code == code)
                    #expect(source == seen.all.first && destination == place)
                    #expect(response.response?.statusCode == 200)
                    #expect(response.fileURL == nil && response.resumeData == nil)
                    #expect(!FileManager.default.fileExists(atPath: source.path))
                }
                #expect(try Data(contentsOf: taken) == Data("old".utf8))
                #expect(names(in: folder) == ["taken"])
            }
        }
    }

    @Test(
        "[DL-5] the retriers are called after a failed move, and a retry can succeed",
        arguments: TestedHTTP.allCases
    )
    func retriedMove(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let place = folder.appendingPathComponent("missing/file")
            let interceptor = ScriptedInterceptor(retry: { question in
                try? FileManager.default.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                question.answer(.retry)
            })
            try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
                stage async throws in
                let request = stage.download("/range/10") { _, _ in (place, []) }
                let response = await request.moved()
                #expect(response.error == nil && response.fileURL == place && request.retryCount == 1)
            }
        }
    }

    @Test(
        "[DL-7] the body of an error status is moved, and kept if validation fails",
        arguments: TestedHTTP.allCases)
    func errorStatus(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let place = folder.appendingPathComponent("file")
                stage.origin.route("GET", "/refused") { _ throws(Refusal) in
                    try OriginResponse(404, "text/plain", Array("gone".utf8))
                }
                let response = await stage.download("/refused") { _, _ in (place, []) }
                    .validate().loaded()
                #expect(brief(response.error) == "status 404")
                #expect(response.fileURL == place)
                #expect(try Data(contentsOf: place) == Data("gone".utf8))
            }
        }
    }

    @Test(
        "[DL-8] for a failed or cancelled transfer the destination closure is not called",
        arguments: [true, false],
        TestedHTTP.allCases)
    func unfinished(isCancelled: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            CutResource(bytes: octets(100)).serve(
                stage.origin, from: 0, cut: (50, isCancelled ? .stall : .end))
            let asked = ValueLog<String>()
            let written = ValueLog<Int64>()
            let request = stage.download("/resource") { url, _ in
                asked.add("asked")
                return (url, [])
            }.downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
                written.add(progress.completedUnitCount)
            }
            async let response = request.moved()
            if isCancelled {
                await written.wait(untilRecorded: 50)
                request.cancel()
            }
            let end = await response
            #expect(brief(end.error) == (isCancelled ? "explicit" : "task lost"))
            #expect(end.fileURL == nil && request.fileURL == nil && asked.all.isEmpty)
            try end.resumeData.flatMap { ResumeData($0) }.map {
                try FileManager.default.removeItem(atPath: $0.file)
            }
        }
    }

    @Test(
        "[DL-30] the response without a serializer has the file's URL; with one it has a duration too",
        arguments: TestedHTTP.allCases)
    func plain(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let place = folder.appendingPathComponent("file")
                let request = stage.download("/range/26") { _, _ in (place, []) }
                let plain = await request.moved()
                #expect(plain.value == place && plain.serializationDuration == 0)
                #expect(plain.metrics != nil && plain.request?.url == URL(string: stage.url("/range/26")))
                let loaded = await request.loaded()
                #expect(loaded.value?.count == 26 && loaded.serializationDuration > 0)
                #expect(loaded.fileURL == place)
            }
        }
    }

    @Test("[DL-31] validators get the URL of the file", arguments: TestedHTTP.allCases)
    func validators(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let place = folder.appendingPathComponent("file")
                let seen = ValueLog<URL?>()
                let response = await stage.download("/range/26") { _, _ in (place, []) }
                    .validate { _, _, file in
                        seen.add(file)
                        return .failure(BriefError("no"))
                    }.moved()
                #expect(seen.all == [place])
                #expect(brief(response.error) == "validate no")
                // Content without a media type fails this validation, except that of an empty file.
                let empty = await stage.session.download(stage.url("/bytes/0"))
                    .validate(contentType: ["image/png"]).moved()
                #expect(empty.error == nil)
                empty.fileURL.map { try? FileManager.default.removeItem(at: $0) }
            }
        }
    }
}
