// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// The library calls the program's code without holding a lock (O-6): the code can use the library from a property, from a
/// protocol's method, and from the `deinit` of an object that nothing else retains.
@Suite struct HostileLockTests {
    // MARK: calls

    /// A credential that reads a property of the interceptor that it belongs to.
    struct CuriousToken: AuthenticationCredential {
        let asked: @Sendable () -> Bool
        var requiresRefresh: Bool { asked() }
    }

    final class Stamp: Authenticator {
        func apply(_ credential: CuriousToken, to urlRequest: inout URLRequest) {
            urlRequest.setValue("curious", forHTTPHeaderField: "Authorization")
        }

        func refresh(
            _ credential: CuriousToken, for session: Session,
            completion: @escaping @Sendable (Result<CuriousToken, any Error>) -> Void
        ) { completion(.success(CuriousToken { false })) }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool { false }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: CuriousToken) -> Bool { true }
    }

    @Test(
        "[O-6] [I-5.3] a credential that is asked whether it has to be refreshed may look at its interceptor, and change it",
        arguments: [false, true])
    func curiousCredential(replaces: Bool) async throws {
        let interceptor = AuthenticationInterceptor(authenticator: Stamp())
        let asked = Protected(0)
        interceptor.credential = CuriousToken { [unowned interceptor] in
            asked.write { $0 += 1 }
            if replaces { interceptor.credential = CuriousToken { false } }
            return interceptor.credential == nil
        }
        try await withPipeline { stage in
            let response = await stage.get("/headers", interceptor: interceptor).answered()
            #expect(response.error == nil)
            #expect(response.request?.value(forHTTPHeaderField: "Authorization") == "curious")
        }
        #expect(asked.read { $0 } == 1)
    }

    /// Accepts no task, but reads the request that is registered for the host.
    final class CuriousProtocol: URLProtocol {
        static let requests = Protected<[String: @Sendable () -> Void]>([:])

        override class func canInit(with task: URLSessionTask) -> Bool {
            guard let host = task.currentRequest?.url?.host else { return false }
            requests.read { $0[host] }?()
            return false
        }
    }

    @Test(
        "[O-6] a protocol that is asked whether it takes a task may ask the request everything, and do all to it",
        arguments: [false, true])
    func curiousProtocol(cancels: Bool) async throws {
        var setUp = PipelineSetUp()
        setUp.configure = { $0.protocolClasses = [CuriousProtocol.self] }
        try await withPipeline(setUp) { stage in
            let host = "\(UUID().uuidString.lowercased()).test"
            let request = stage.session.request(stage.url(host: host), shouldAutomaticallyResume: false)
            let calls = Protected(0)
            CuriousProtocol.requests.write { requests in
                requests[host] = { [weak request] in
                    guard let request else { return }
                    calls.write { $0 += 1 }
                    askEverything(of: request)
                    if cancels { request.cancel() } else { request.suspend().resume() }
                    _ = request.onURLSessionTaskCreation { _ in }
                }
            }
            request.resume()
            let response = await request.answered()
            #expect(response.error?.isExplicitlyCancelledError == (cancels ? true : nil))
            #expect(calls.read { $0 } == 1)
            CuriousProtocol.requests.write { $0[host] = nil }
        }
    }

    // MARK: what goes away

    /// A place where the library releases an object of the program.
    struct Place: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Installs an object that reads the request in its `deinit`, and replaces that object.
        let replace:
            @Sendable (PipelineStage, _ parting: @escaping @Sendable (Request) -> Parting) async -> Request

        init(
            _ name: String,
            _ replace:
                @escaping @Sendable (
                    PipelineStage, _ parting: @escaping @Sendable (Request) -> Parting
                ) async -> Request
        ) {
            testDescription = name
            self.replace = replace
        }

        /// Installs and replaces the object on a request that is not resumed.
        init(of name: String, _ replace: @escaping @Sendable (DataRequest, Parting?) -> Void) {
            self.init(name) { stage, parting in
                let request = stage.get(resumes: false)
                replace(request, parting(request))
                replace(request, nil)
                return request
            }
        }
    }

    /// An interceptor that retries once, after the first failure.
    static var once: RequestPause { RequestPause() }

    final class RequestPause: RequestInterceptor {
        private let isFirst = Protected(true)

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            let isFirst = isFirst.write { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            completion(isFirst ? .retry : .doNotRetry)
        }
    }

    final class PartingInterceptor: Interceptor, @unchecked Sendable {
        private let parting: Parting
        init(_ parting: Parting) {
            self.parting = parting
            super.init()
        }
    }

    struct Making<Value: Sendable>: DataResponseSerializerProtocol {
        let make: @Sendable () throws -> Value

        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Value { try make() }
    }

    struct PartingSerializer: ResponseSerializer {
        let parting: Parting
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int { 1 }
    }

    static let queue = DispatchQueue(label: "hostile.handler")

    static let places: [Place] = [
        Place(of: "a handler of upload progress") { request, parting in
            request.uploadProgress(queue: queue) { _ in parting?.stays() }
        },
        Place(of: "a handler of download progress") { request, parting in
            request.downloadProgress(queue: queue) { _ in parting?.stays() }
        },
        Place(of: "a handler of URL requests") { request, parting in
            request.onURLRequestCreation(on: queue) { _ in parting?.stays() }
        },
        Place(of: "a handler of tasks") { request, parting in
            request.onURLSessionTaskCreation(on: queue) { _ in parting?.stays() }
        },
        Place(of: "a handler of the curl command") { request, parting in
            request.cURLDescription(on: queue) { _ in parting?.stays() }
        },
        Place(of: "a handler of heads") { request, parting in
            request.onHTTPResponse(on: queue) { _ in parting?.stays() }
        },
        Place(of: "an interceptor that is taken apart") { request, parting in
            if let parting {
                let interceptor = PartingInterceptor(parting)
                request.mutableState.write { $0.interceptor = interceptor }
            } else {
                request.adapt(using: Adapter { request, _, completion in completion(.success(request)) })
            }
        },
        Place(of: "an error") { request, parting in
            request.error = parting.map { parting in
                .sessionTaskFailed(error: PartingError { parting.stays() })
            }
        },
        Place("a handler of a stream's heads") { stage, parting in
            let request = stage.session.streamRequest(stage.url())
            let parting = parting(request)
            request.onHTTPResponse(on: queue) { _ in parting.stays() }
            request.onHTTPResponse(on: queue) { _ in }
            return request
        },
        Place("what opens a stream's file") { stage, parting in
            let request = stage.session.streamRequest(stage.url())
            let parting = parting(request)
            request.saveContent { _ in
                parting.stays()
                return nil
            }
            request.saveContent { _ in nil }
            return request
        },
        Place("the stream of an upload") { stage, parting in
            let request = stage.session.upload(Data(), to: stage.url("/post"))
            let look = parting(request)
            request.uploadable = .stream(PartingStream { look.stays() })
            request.uploadable = nil
            return request
        },
        Place("a serializer, when all have run") { stage, parting in
            let request = stage.get()
            let queue = DispatchQueue(label: "hostile.done")
            _ = await called { answer in
                request.response(
                    queue: queue, responseSerializer: PartingSerializer(parting: parting(request))
                ) { answer($0.error == nil) }
            }
            return request
        },
        Place("a validator's error, when the request is tried again") { stage, parting in
            let request = stage.get(interceptor: once)
            let held = Protected<PartingError?>(nil)
            let parting = parting(request)
            held.write(PartingError { parting.stays() })
            request.validate { _, _, _ in
                let error = held.write { $0.take() }
                return error.map { .failure($0) } ?? .success(())
            }
            _ = await request.answered()
            return request
        },
        Place("the value of the first attempt, when a second serializer has the request tried again") {
            stage, parting in
            let request = stage.get(interceptor: once)
            let parts = Protected<Parting?>(parting(request))
            let isFirst = Protected(true)
            request.response(queue: queue, responseSerializer: Making { parts.write { $0.take() } }) {
                _ in
            }
            _ = await called { answer in
                request.response(
                    queue: queue,
                    responseSerializer: Making {
                        let fails = isFirst.write { isFirst in
                            defer { isFirst = false }
                            return isFirst
                        }
                        if fails { throw URLError(.cannotParseResponse) }
                        return 1
                    }
                ) { answer($0.error == nil) }
            }
            return request
        },
        Place("a handler of a web socket, at its end") { stage, parting in
            let request = stage.session.webSocketRequest(to: stage.url("/get"))
            let parting = parting(request)
            let ended = ValueLog<Bool>()
            request.streamMessageEvents(on: queue) { [parting] event in
                parting.stays()
                if case .completed = event.kind { ended.add(true) }
            }
            await ended.wait(for: 1)
            return request
        },
        Place("a handler of a stream, at its end") { stage, parting in
            let request = stage.session.streamRequest(stage.url())
            let parting = parting(request)
            let ended = ValueLog<Bool>()
            request.responseStream(on: queue) { [parting] stream in
                parting.stays()
                if stream.completion != nil { ended.add(true) }
            }
            await ended.wait(for: 1)
            return request
        },
    ]

    @Test("[O-6] what is replaced or no longer needed may look around when it goes away", arguments: places)
    func looksAroundAtItsEnd(_ place: Place) async throws {
        try await withPipeline { stage in
            let ends = ValueLog<Bool>()
            let request = await place.replace(stage) { request in
                Parting { [weak request] in
                    if let request { askEverything(of: request) }
                    ends.add(request != nil)
                }
            }
            request.cancel()
            await stage.settle()
            await queueIsThrough()
            #expect(await ends.wait(for: 1).count == 1)
            askEverything(of: request)
        }
    }

    private func queueIsThrough() async { await Self.queue.flush() }

    @Test(
        "[O-6] a credential and the reason why there is none may look at the interceptor when they are replaced"
    )
    func replacedCredential() {
        struct Token: AuthenticationCredential {
            let parting: Parting
            var requiresRefresh: Bool { false }
        }
        final class Stamp: Authenticator {
            func apply(_ credential: Token, to urlRequest: inout URLRequest) {}
            func refresh(
                _ credential: Token, for session: Session,
                completion: @escaping @Sendable (Result<Token, any Error>) -> Void
            ) {}
            func didRequest(
                _ urlRequest: URLRequest, with response: HTTPURLResponse,
                failDueToAuthenticationError error: any Error
            ) -> Bool { true }
            func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool { true }
        }
        let interceptor = AuthenticationInterceptor(authenticator: Stamp())
        let ends = Protected(0)
        for _ in 0..<2 {
            interceptor.credential = Token(
                parting: Parting { [unowned interceptor] in
                    _ = interceptor.credential
                    ends.write { $0 += 1 }
                })
        }
        interceptor.credential = nil
        #expect(ends.read { $0 } == 2)
    }

    @Test("[O-6] the handler of a path monitor may look at the monitor when it is replaced")
    func replacedPathHandler() {
        let monitor = NWPathMonitor()
        let ends = Protected(0)
        let parting = Protected<Parting?>(
            Parting { [unowned monitor] in
                _ = monitor.pathUpdateHandler == nil
                ends.write { $0 += 1 }
            })
        monitor.pathUpdateHandler = { [parting = parting.write { $0.take() }] _ in parting?.stays() }
        monitor.pathUpdateHandler = nil
        #expect(ends.read { $0 } == 1)
    }

    // MARK: forms

    /// A form whose `contentType` reads the request that sends the form.
    final class CuriousForm: MultipartFormData {
        var onAsked: () -> Void = {}
        override var contentType: String {
            get {
                onAsked()
                return super.contentType
            }
            set { super.contentType = newValue }
        }
    }

    @Test("[O-6] a form may ask for its own upload's request while it is asked for its type")
    func curiousForm() throws {
        let form = CuriousForm()
        form.append(Data("a".utf8), withName: "a")
        let upload = MultipartUpload(
            encodingMemoryThreshold: .max, request: URLRequest(url: try "http://origin.test/".asURL()),
            form: form, folder: nil)
        var asked = 0
        defer { form.onAsked = {} }
        form.onAsked = {
            asked += 1
            if asked < 3 { _ = try? upload.asURLRequest() }
        }
        #expect(try upload.asURLRequest().value(forHTTPHeaderField: "Content-Type") != nil)
        #expect(asked == 3)
    }

    /// A stream that encodes the form while it is read.
    final class CuriousStream: InputStream {
        var onRead: () -> Void = {}
        private var isOver = false

        override var hasBytesAvailable: Bool { !isOver }
        override var streamStatus: Stream.Status { isOver ? .atEnd : .open }
        override func open() {}
        override func close() {}
        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
            if isOver { return 0 }
            isOver = true
            onRead()
            unsafe buffer.pointee = 0x61
            return 1
        }
    }

    @Test(
        "[O-6] a stream of a form that has the form encoded while it is read gets an error, and the form is sent"
    )
    func encodedWithinItself() throws {
        let form = MultipartFormData()
        let stream = CuriousStream(data: Data())
        form.append(stream, withLength: 1, headers: ["Content-Disposition": "form-data; name=\"a\""])
        let upload = MultipartUpload(
            encodingMemoryThreshold: .max, request: URLRequest(url: try "http://origin.test/".asURL()),
            form: form, folder: nil)
        var inner: (any Error)?
        defer { stream.onRead = {} }
        stream.onRead = {
            do { _ = try upload.createUploadable() } catch { inner = error }
        }
        guard case .data(let data) = try upload.createUploadable() else {
            Issue.record("a small form is encoded in memory")
            return
        }
        #expect(String(decoding: data, as: UTF8.self).contains("\r\n\r\na\r\n"))
        #expect(inner?.asAFError?.isCreateUploadableError == true)
    }
}
