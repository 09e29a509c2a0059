// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// Uploads of forms: where they are encoded, when and how often, and the removal of their files.
struct MultipartUploadTests {
    /// A manager with its own temporary folder.
    private final class PlacedManager: FileManager, @unchecked Sendable {
        let folder: URL

        init(_ folder: URL) {
            self.folder = folder
            super.init()
        }

        override var temporaryDirectory: URL { folder }

        var forms: [String] {
            names(in: folder).filter { $0.hasPrefix("LupineForm-") && $0.hasSuffix(".tmp") }
        }
    }

    /// A conversion of the program that runs a closure.
    private struct Meanwhile: URLRequestConvertible {
        let url: String
        let body: @Sendable () -> Void

        func asURLRequest() throws -> URLRequest {
            body()
            var request = try URLRequest(url: url, method: .post)
            request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            return request
        }
    }

    /// Passes a form to closures.
    private struct Carried: @unchecked Sendable {
        let form: MultipartFormData
    }

    private struct Parts: Decodable, Sendable {
        struct Part: Decodable, Equatable, Sendable {
            let name: String?
            let bytes: Int
        }
        let parts: [Part]
    }

    private func parts(_ response: AFDataResponse<Data>) throws -> [Parts.Part] {
        try JSONDecoder().decode(Parts.self, from: try #require(response.value)).parts
    }

    @Test(
        "[E-8.1, UP-4] `upload` calls the closure that fills the form before it returns",
        arguments: TestedHTTP.allCases)
    func closures(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            var calls = 0
            let first = stage.session.upload(
                multipartFormData: { form in
                    calls += 1
                    form.append(Data("one".utf8), withName: "a")
                }, to: stage.url("/upload"))
            #expect(calls == 1)
            #expect(first.upload as? MultipartUpload === first.convertible as? MultipartUpload)
            let second = stage.session.upload(
                multipartFormData: { form in
                    calls += 1
                    form.append(Data("four".utf8), withName: "b")
                }, with: try URLRequest(url: stage.url("/upload"), method: .put))
            #expect(calls == 2)
            let answers = await [first.parsed(), second.parsed()]
            #expect(try parts(answers[0]) == [.init(name: "a", bytes: 3)])
            #expect(try parts(answers[1]) == [.init(name: "b", bytes: 4)])
            #expect(first.request?.httpMethod == "POST" && second.request?.httpMethod == "PUT")
        }
    }

    @Test(
        "[E-8.2, E-8.3, UP-4] the content type is the form's, and the conversion may still add parts",
        arguments: TestedHTTP.allCases)
    func conversion(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let form = MultipartFormData(boundary: "XX")
            form.append(Data("one".utf8), withName: "a")
            let carried = Carried(form: form)
            let added = Protected(false)
            let request = stage.session.upload(
                multipartFormData: form,
                with: Meanwhile(url: stage.url("/upload")) {
                    let isFirst = added.write { isAdded in
                        defer { isAdded = true }
                        return !isAdded
                    }
                    if isFirst { carried.form.append(Data("four".utf8), withName: "b") }
                })
            #expect(
                request.convertible.urlRequest?.headers["Content-Type"] == "multipart/form-data; boundary=XX")
            let response = await request.parsed()
            #expect(try parts(response) == [.init(name: "a", bytes: 3), .init(name: "b", bytes: 4)])
            #expect(request.request?.headers["Content-Type"] == "multipart/form-data; boundary=XX")
        }
    }

    @Test(
        "[E-8.2] several threads can convert the upload's request while it is sent",
        arguments: TestedHTTP.allCases)
    func threads(over testedHTTP: TestedHTTP) async throws {
        try await withPipeline(over: testedHTTP) { stage async throws in
            let request = stage.session.upload(
                multipartFormData: { $0.append(Data(octets(100_000)), withName: "a") },
                to: stage.url("/upload"),
                usingThreshold: 0)
            async let response = request.parsed()
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<32 {
                    group.addTask { request.convertible.urlRequest?.headers["Content-Type"] }
                }
                for await type in group { #expect(type?.hasPrefix("multipart/form-data; boundary=") == true) }
            }
            #expect(await response.error == nil)
        }
    }

    @Test(
        "[E-8.4, E-8.6, UP-4, UP-8] forms below the threshold are encoded in memory, others into a file that is removed",
        arguments: [
            (3, UInt64(4), false), (4, 4, true), (5, 4, true), (0, 0, true), (100_000, .max, false),
        ])
    func threshold(count: Int, threshold: UInt64, isFile: Bool) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline { stage async throws in
                let manager = PlacedManager(folder)
                let during = ValueLog<[String]>()
                stage.origin.route("POST", "/take") { _ throws(Refusal) in
                    during.add(manager.forms)
                    return OriginResponse()
                }
                let request = stage.session.upload(
                    multipartFormData: { $0.append(Data(octets(count)), withName: "a") },
                    to: stage.url("/take"), usingThreshold: threshold, fileManager: manager)
                #expect(await request.parsed().response?.statusCode == 200)
                await stage.settle()
                switch request.uploadable {
                case .data: #expect(!isFile && during.all == [[]])
                case .file(let file, shouldRemove: true):
                    #expect(isFile && during.all == [[file.lastPathComponent]])
                    #expect(file.deletingLastPathComponent().path == folder.path)
                default: Issue.record("\(String(describing: request.uploadable))")
                }
                #expect(manager.forms.isEmpty)
            }
        }
    }

    @Test(
        "[E-8.4] a form is not written into a folder that another user may have created",
        arguments: TestedHTTP.allCases)
    func madeAnew(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let (temporary, foreign) = (
                folder.appendingPathComponent("temporary"), folder.appendingPathComponent("foreign")
            )
            let trap = temporary.appendingPathComponent("org.alamofire.manager.\(geteuid())")
            for place in [trap, foreign] {
                try FileManager.default.createDirectory(
                    at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o777])
            }
            try FileManager.default.createSymbolicLink(
                at: trap.appendingPathComponent("multipart.form.data"), withDestinationURL: foreign)
            try await withPipeline(over: testedHTTP) { stage async throws in
                let during = ValueLog<[String]>()
                stage.origin.route("POST", "/take") { _ throws(Refusal) in
                    during.add(names(in: foreign))
                    return OriginResponse()
                }
                let request = stage.session.upload(
                    multipartFormData: { $0.append(Data("secret".utf8), withName: "a") },
                    to: stage.url("/take"), usingThreshold: 0, fileManager: PlacedManager(temporary))
                #expect(await request.parsed().response?.statusCode == 200)
                await stage.settle()
                #expect(during.all == [[]])
                #expect(names(in: temporary) == [trap.lastPathComponent])
            }
        }
    }

    @Test(
        "[E-8.3, UP-5] a form is encoded once, and a retry sends the same bytes", arguments: [UInt64.max, 0],
        TestedHTTP.allCases)
    func retried(threshold: UInt64, over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let interceptor = ScriptedInterceptor(answers: [.retry])
            try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
                stage async throws in
                let manager = PlacedManager(folder)
                let bodies = ValueLog<[UInt8]>()
                stage.origin.route("POST", "/take") { request throws(Refusal) in
                    bodies.add(request.body)
                    return OriginResponse(bodies.all.count == 1 ? 503 : 200)
                }
                let request = stage.session.upload(
                    multipartFormData: { $0.append(Data(octets(50_000)), withName: "a") },
                    to: stage.url("/take"), usingThreshold: threshold, fileManager: manager
                ).validate()
                _ = await request.answered()
                #expect(request.retryCount == 1 && bodies.all.count == 2)
                let isSame = bodies.all.first == bodies.all.last
                #expect(isSame && bodies.all.first?.count ?? 0 > 50_000)
                await stage.settle()
                #expect(manager.forms.isEmpty)
            }
        }
    }

    @Test(
        "[R-46, UP-8] the retry for a late handler encodes the form again, which fails for a form with a stream",
        arguments: [false, true], TestedHTTP.allCases)
    func lateRetry(hasStream: Bool, over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let interceptor = ScriptedInterceptor(answers: [.retry])
            try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
                stage async throws in
                let manager = PlacedManager(folder)
                let bodies = ValueLog<[UInt8]>()
                stage.origin.route("POST", "/take") { request throws(Refusal) in
                    bodies.add(request.body)
                    return OriginResponse(200)
                }
                let file = folder.appendingPathComponent("part.bin")
                try Data(octets(30_000, seed: 3)).write(to: file)
                let request = stage.session.upload(
                    multipartFormData: { form in
                        form.append(Data(octets(20_000)), withName: "a")
                        form.append(file, withName: "b")
                        guard hasStream else { return }
                        form.append(
                            InputStream(data: Data(octets(1000))), withLength: 1000, name: "c", fileName: "c",
                            mimeType: "a/b")
                    }, to: stage.url("/take"), usingThreshold: 0, fileManager: manager)
                #expect(await request.answered().error == nil)
                await stage.settle()
                #expect(manager.forms.isEmpty && bodies.all.count == 1)
                let runs = Protected(0)
                let late: AFDataResponse<String> = await called { answer in
                    request.response(
                        queue: DispatchQueue(label: "late"),
                        responseSerializer: ClosureSerializer { error in
                            if let error { throw error }
                            let isFirst = runs.write { count in
                                count += 1
                                return count == 1
                            }
                            if isFirst { throw BriefError("no") }
                            return "yes"
                        }
                    ) { answer($0) }
                }
                await stage.settle()
                #expect(manager.forms.isEmpty && request.retryCount == 1)
                if hasStream {
                    guard case .multipartEncodingFailed(.inputStreamReadFailed) = late.error else {
                        Issue.record("\(String(describing: late.error))")
                        return
                    }
                    #expect(bodies.all.count == 1)
                } else {
                    #expect(late.value == "yes" && bodies.all.count == 2)
                    let isSame = bodies.all.first == bodies.all.last
                    #expect(isSame && bodies.all.first?.count ?? 0 > 50_000)
                }
            }
        }
    }

    @Test(
        "[E-8.5, UP-5, UP-7] the error of a missing part is not wrapped, and the same for all attempts",
        arguments: TestedHTTP.allCases)
    func missingPart(over testedHTTP: TestedHTTP) async throws {
        let interceptor = ScriptedInterceptor(answers: [.retry])
        try await withPipeline(PipelineSetUp(interceptor: interceptor), over: testedHTTP) {
            stage async throws in
            let missing = URL(fileURLWithPath: "/missing/file.txt")
            let request = stage.session.upload(
                multipartFormData: { $0.append(missing, withName: "a") }, to: stage.url("/upload"))
            let response = await request.parsed()
            guard
                case .multipartEncodingFailed(.bodyPartFileNotReachableWithError(let url, _)) = response.error
            else {
                Issue.record("\(String(describing: response.error))")
                return
            }
            #expect(url == missing && request.uploadable == nil && request.tasks.isEmpty)
            #expect(request.retryCount == 1)
        }
    }

    @Test("[E-8.5] if the folder cannot be created the upload fails", arguments: TestedHTTP.allCases)
    func noFolder(over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let file = folder.appendingPathComponent("file")
                try Data().write(to: file)
                let request = stage.session.upload(
                    multipartFormData: { $0.append(Data("one".utf8), withName: "a") },
                    to: stage.url("/upload"), usingThreshold: 0, fileManager: PlacedManager(file))
                let response = await request.parsed()
                guard case .createUploadableFailed = response.error else {
                    Issue.record("\(String(describing: response.error))")
                    return
                }
                #expect(request.uploadable == nil)
            }
        }
    }

    @Test("[E-8.4, UP-4] a file that cannot be written completely is removed", arguments: TestedHTTP.allCases)
    func halfFile(over testedHTTP: TestedHTTP) async throws {
        /// Fails after three bytes.
        final class Broken: InputStream {
            private var left = 3
            override func open() {}
            override func close() {}
            override var hasBytesAvailable: Bool { true }
            override var streamStatus: Stream.Status { .open }
            override var streamError: (any Error)? { BriefError("broken") }
            override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
                left -= 1
                guard left > 0 else { return -1 }
                unsafe buffer.update(repeating: 65, count: len)
                return len
            }
        }
        try await withTemporaryFolder { folder async throws in
            try await withPipeline(over: testedHTTP) { stage async throws in
                let manager = PlacedManager(folder)
                let request = stage.session.upload(
                    multipartFormData: { form in
                        form.append(
                            Broken(data: Data()), withLength: 1 << 20, name: "a", fileName: "f",
                            mimeType: "a/b")
                    }, to: stage.url("/upload"), usingThreshold: 0, fileManager: manager)
                let response = await request.parsed()
                #expect(response.error?.isMultipartEncodingError == true && request.uploadable == nil)
                #expect(manager.forms.isEmpty)
            }
        }
    }

    /// The time at which a form's upload is interrupted.
    enum Moment: CaseIterable {
        case encoding
        case sending
        case retryIsDecided
        case retryIsAdapted
        case sessionGoes
    }

    @Test(
        "[E-8.6, UP-8] the file is removed however the request finishes", arguments: Moment.allCases,
        TestedHTTP.allCases
    )
    func cutShort(_ moment: Moment, over testedHTTP: TestedHTTP) async throws {
        try await withTemporaryFolder { folder async throws in
            let adapted = ValueLog<String>()
            let cancel = Protected<(@Sendable () -> Void)?>(nil)
            let interceptor = ScriptedInterceptor(
                adapt: { adaptation in
                    adapted.add("adapted")
                    if moment == .retryIsAdapted, adapted.all.count == 2 {
                        return adaptation.answer(.failure(BriefError("no")))
                    }
                    adaptation.answer(.success(adaptation.request))
                },
                retry: { question in
                    if moment == .retryIsDecided { cancel.read { $0 }?() }
                    question.answer(adapted.all.count == 1 ? .retry : .doNotRetry)
                })
            let manager = PlacedManager(folder)
            let requestQueue = DispatchQueue(label: "conversion")
            // The interceptor retains its arguments, including the session.
            var setUp = PipelineSetUp(interceptor: moment == .sessionGoes ? nil : interceptor)
            setUp.requestQueue = requestQueue
            try await withPipeline(setUp, over: testedHTTP) { stage async throws in
                var session: Session? = try setUp.session(of: stage.origin)
                let fails = moment == .retryIsDecided || moment == .retryIsAdapted
                stage.origin.answer(
                    "POST", "/cut",
                    ScriptPlan(
                        .expectBytes(1000), .signal("asked"), fails ? .close : .stall))
                let made = ValueLog<String>()
                let going = DispatchSemaphore(value: 0)
                let stream = Held(made: made, going: moment == .encoding ? going : nil)
                let request = try #require(session).upload(
                    multipartFormData: { form in
                        form.append(stream, withLength: 100_000, name: "a", fileName: "f", mimeType: "a/b")
                    }, to: stage.url("/cut"), usingThreshold: 0, fileManager: manager)
                cancel.write { $0 = { [weak request] in request?.cancel() } }
                async let response = request.answered()
                switch moment {
                case .encoding:
                    await made.wait(for: 1)
                    #expect(manager.forms.count == 1)
                    request.cancel()
                    #expect(brief(await response.error) == "explicit")
                    going.signal()
                    await requestQueue.flush()
                case .sending:
                    await stage.waitForRequest()
                    #expect(manager.forms.count == 1)
                    request.cancel()
                    #expect(brief(await response.error) == "explicit")
                case .retryIsDecided, .retryIsAdapted:
                    #expect(await response.error != nil)
                case .sessionGoes:
                    await stage.waitForRequest()
                    #expect(manager.forms.count == 1)
                    let queue = try #require(session).rootQueue
                    session = nil
                    #expect(brief(await response.error) == "deinitialized")
                    await queue.flush()
                }
                await session?.settle()
                #expect(manager.forms.isEmpty, "\(moment)")
            }
        }
    }

    /// A stream that reports its first read, and then waits if it has a semaphore.
    private final class Held: InputStream {
        private let made: ValueLog<String>
        private let going: DispatchSemaphore?
        private var left = 100_000

        init(made: ValueLog<String>, going: DispatchSemaphore?) {
            self.made = made
            self.going = going
            super.init(data: Data())
        }

        override func open() {}
        override func close() {}
        override var hasBytesAvailable: Bool { left > 0 }
        override var streamStatus: Stream.Status { left > 0 ? .open : .atEnd }
        override var streamError: (any Error)? { nil }
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            if left == 100_000 {
                made.add("read")
                going?.wait()
            }
            let count = min(len, left)
            left -= count
            unsafe buffer.update(repeating: 65, count: count)
            return count
        }
    }
}
