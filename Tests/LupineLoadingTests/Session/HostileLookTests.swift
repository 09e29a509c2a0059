// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

import class LupineTransport.EventLoop

@testable import LupineLoading

/// Objects of the program are called and released without a lock of the library held, so their code may use the loading objects.
struct HostileLookTests {
    /// An object that runs a closure in its `deinit`; the closure would deadlock if the library held a lock.
    private final class DeinitWitness: NSObject, Sendable {
        private let callback: @Sendable () -> Void

        init(_ callback: @escaping @Sendable () -> Void) { self.callback = callback }

        deinit {
            assertNoLockIsHeld()
            callback()
        }
    }

    // MARK: responses

    /// A response that runs a closure whenever its properties are read.
    private final class CallingResponse: HTTPURLResponse, @unchecked Sendable {
        private let callback: @Sendable () -> Void

        init?(url: URL, _ fields: [String: String], _ callback: @escaping @Sendable () -> Void) {
            self.callback = callback
            super.init(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        }

        required init?(coder: NSCoder) { nil }

        private func looking<Value>(_ value: Value) -> Value {
            assertNoLockIsHeld()
            callback()
            return value
        }

        override var url: URL? { looking(super.url) }
        override var mimeType: String? { looking(super.mimeType) }
        override var expectedContentLength: Int64 { looking(super.expectedContentLength) }
        override var suggestedFilename: String? { looking(super.suggestedFilename) }
        override var statusCode: Int { looking(super.statusCode) }
        override var allHeaderFields: [AnyHashable: Any] { looking(super.allHeaderFields) }
        override func value(forHTTPHeaderField field: String) -> String? {
            looking(super.value(forHTTPHeaderField: field))
        }
    }

    /// A way for a program to receive what its own protocol loads.
    enum Delivery: CaseIterable, Sendable {
        case handler, delegate, download, bytes, saved

        func task(
            _ request: URLRequest, in session: URLSession, _ done: @escaping @Sendable () -> Void
        ) -> URLSessionTask {
            switch self {
            case .handler: session.dataTask(with: request) { _, _, _ in done() }
            case .download: session.downloadTask(with: request) { _, _, _ in done() }
            case .delegate, .bytes: session.dataTask(with: request)
            case .saved: session.dataTask(with: request, savingInto: { _ in nil })
            }
        }
    }

    private final class CompletionDelegate: NSObject, URLSessionTaskDelegate, Sendable {
        let done: @Sendable () -> Void

        init(_ done: @escaping @Sendable () -> Void) { self.done = done }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
        { done() }
    }

    @Test(
        "[O-6] a response subclass may call its task and the cache from its getters",
        arguments: Delivery.allCases)
    func curiousResponse(_ delivery: Delivery) async throws {
        let stage = CacheStage()
        let cache = stage.cache()
        let looks = LockedValue(0)
        let known = LockedValue<[URLSessionTask]>([])
        let callback: @Sendable () -> Void = {
            looks.update { $0 += 1 }
            for task in known.value {
                _ = (task.state, task.response, task.currentRequest, task.countOfBytesReceived, task.progress)
            }
            _ = (cache.currentMemoryUsage, cache.memoryCapacity)
        }
        let (host, _) = ScriptedProtocol.register { loading in
            guard let url = loading.request.url,
                let response = CallingResponse(
                    url: url,
                    [
                        "Content-Length": "5", "Cache-Control": "max-age=100", "ETag": "\"v1\"",
                        "Accept-Ranges": "bytes",
                    ], callback)
            else { return }
            loading.client?.urlProtocol(loading, didReceive: response, cacheStoragePolicy: .allowed)
            loading.load("01234")
            loading.finish()
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [ScriptedProtocol.self]
        configuration.urlCache = cache
        let (ends, end) = AsyncStream<Void>.makeStream()
        let session = URLSession(
            configuration: configuration, delegate: CompletionDelegate { end.finish() }, delegateQueue: nil)
        let request = URLRequest(url: try #require(URL(string: "http://\(host)/")))
        if delivery == .bytes {
            let (bytes, response) = try await session.bytes(for: request)
            known.update { $0.append(bytes.task) }
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(try await bytes.reduce(0) { count, _ in count + 1 } == 5)
        } else {
            let task = delivery.task(request, in: session) { end.finish() }
            _ = task.progress
            known.update { $0.append(task) }
            task.resume()
            for await _ in ends {}
            #expect(task.error == nil)
        }
        #expect(looks.value > 0)
        known.set([])
        session.invalidateAndCancel()
        // Completes all writes before the stage ends.
        await cache.flush()
    }

    @Test(
        "[O-6] a stored response subclass may call the cache from its getters", arguments: [0, 1 << 20])
    func storedResponse(disk: Int) async throws {
        let stage = CacheStage()
        let cache = stage.cache(memory: 4000, disk: disk)
        let looks = LockedValue(0)
        let request = try CacheStage.request()
        let callback: @Sendable () -> Void = {
            looks.update { $0 += 1 }
            _ = (cache.currentMemoryUsage, cache.memoryCapacity)
        }
        let url = try #require(request.url)
        for count in 0..<8 {
            let response = try #require(CallingResponse(url: url, ["X": "y"], callback))
            let other = try CacheStage.request("http://h/\(count % 4)")
            cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data(count: 900)), for: other)
        }
        await cache.flush()
        _ = cache.cachedResponse(for: try CacheStage.request("http://h/3"))
        cache.memoryCapacity = 10
        #expect(cache.currentMemoryUsage == 0)
        #expect(looks.value > 0)
    }

    @Test(
        "[U-12.13] a stored response subclass is not called when the server confirms it",
        arguments: TestedHTTP.allCases)
    func confirmedResponse(over testedHTTP: TestedHTTP) async throws {
        let stage = CacheStage()
        let cache = stage.cache()
        var serving = OriginConfiguration()
        serving.enable(testedHTTP)
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        origin.answer(
            "GET", "/stored",
            ScriptPlan(
                .send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nCache-Control: max-age=9\r\n\r\n"),
                .close))
        let url = try #require(URL(string: origin.url + "/stored"))
        let request = URLRequest(url: url)
        let looks = LockedValue(0)
        let response = try #require(
            CallingResponse(
                url: url, ["Cache-Control": "max-age=0", "ETag": "\"v1\""]
            ) { looks.update { $0 += 1 } })
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("stored".utf8)), for: request)
        await cache.flush()
        looks.set(0)
        let session = URLSession(
            configuration: DriverLoad.configuration {
                $0.urlCache = cache
                $0.lupine.httpVersions = testedHTTP.versions
            })
        let (data, confirmed) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "stored" && confirmed !== response)
        #expect((confirmed as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Control") == "max-age=9")
        #expect(looks.value == 0)
        session.invalidateAndCancel()
        await origin.shutdown()
        await cache.flush()
    }

    // MARK: releases

    @Test("[O-6] a response that waits to be written does not retain its request")
    func waitingWrite() async throws {
        let stage = CacheStage()
        let cache = stage.cache()
        let ends = LockedValue(0)
        let gate = DispatchSemaphore(value: 0)
        StorageQueue.run { gate.wait() }
        do {
            let request = NSMutableURLRequest(url: try #require(URL(string: "http://h/a")))
            let witness = DeinitWitness {
                _ = cache.currentMemoryUsage
                ends.update { $0 += 1 }
            }
            URLProtocol.setProperty(witness, forKey: "parting", in: request)
            cache.storeCachedResponse(try CacheStage.loaded("a"), for: request as URLRequest)
        }
        #expect(ends.value == 1)
        gate.signal()
        await cache.flush()
    }

    @Test(
        "[O-7] objects that a cache drops are released neither on a loop nor on the storage queue",
        arguments: [true, false])
    func evicted(_ isWritten: Bool) async throws {
        let stage = CacheStage()
        let cache = stage.cache()
        let origin = try LupineOrigin.Origin.start()
        let url = try #require(URL(string: origin.url + "/anything"))
        let (places, ended) = AsyncStream.makeStream(of: String.self)
        do {
            let witness = DeinitWitness {
                ended.yield(
                    EventLoop.current != nil
                        ? "a loop" : StorageQueue.isCurrent ? "the storage queue" : "elsewhere")
            }
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=99"]
                ))
            cache.storeCachedResponse(
                CachedURLResponse(
                    response: response, data: Data("a".utf8), userInfo: ["parting": witness],
                    storagePolicy: isWritten ? .allowed : .allowedInMemoryOnly),
                for: URLRequest(url: url))
        }
        // A successful POST to the URL invalidates its stored responses; this happens on an event loop.
        var change = URLRequest(url: url)
        change.httpMethod = "POST"
        let session = URLSession(configuration: DriverLoad.configuration { $0.urlCache = cache })
        _ = try await session.data(for: change)
        #expect(cache.cachedResponse(for: URLRequest(url: url)) == nil)
        for await place in places {
            #expect(place == "elsewhere")
            break
        }
        session.invalidateAndCancel()
        await origin.shutdown()
        await cache.flush()
    }

    @Test("[O-7] objects of the program in its configuration are not released on a loop")
    func configuredValue() async throws {
        let origin = try LupineOrigin.Origin.start()
        let (places, ended) = AsyncStream.makeStream(of: Bool.self)
        do {
            let configuration = DriverLoad.configuration()
            configuration.lupine.protocolValue = DeinitWitness { ended.yield(EventLoop.current != nil) }
            let session = URLSession(configuration: configuration)
            _ = try await session.data(from: try #require(URL(string: origin.url + "/get")))
        }
        for await isOnLoop in places {
            #expect(!isOnLoop)
            break
        }
        await origin.shutdown()
    }

    @Test("[O-7] a response subclass is not called on the storage queue")
    func writtenResponse() async throws {
        let stage = CacheStage()
        let cache = stage.cache()
        let url = try #require(URL(string: "http://h/curious"))
        let looks = LockedValue(0)
        let response = try #require(
            CallingResponse(url: url, ["Cache-Control": "max-age=99"]) {
                if StorageQueue.isCurrent { looks.update { $0 += 1 } }
            })
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("a".utf8)), for: URLRequest(url: url))
        await cache.flush()
        #expect(looks.value == 0)
        #expect(cache.cachedResponse(for: URLRequest(url: url))?.response === response)
    }

    private final class DeinitWitnessError: Error, Sendable {
        private let witness: DeinitWitness

        init(_ callback: @escaping @Sendable () -> Void) { witness = DeinitWitness(callback) }
    }

    @Test("[O-6] an error that the resource time-out replaces may call its task from deinit")
    func replacedError() async throws {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate(onResponse: { _, _ in })
        let session = loads.session(delegate)
        let task = session.dataTask(with: someURL())
        task.resume()
        let load = await loads.load()
        load.respond()
        await delegate.log.wait(for: "response 200")
        let end = LockedValue<ObjectIdentifier?>(nil)
        load.client.driverEnded(
            DeinitWitnessError { [unowned task] in
                _ = (task.state, task.error)
                end.set(Self.thread)
                delegate.log.add("parted")
            }, .none)
        #expect(end.value == nil, "the delegate has not answered")
        // Stands for an event loop, where the timer of a load fires: the `deinit` of the program's error does not run there.
        let loop = Self.ring(load)
        await delegate.log.wait(for: "parted")
        #expect(end.value != loop)
        await delegate.log.wait(for: "complete -1001")
        session.invalidateAndCancel()
    }

    @Test(
        "[O-7] a finished task retains neither its handler nor its delegate",
        .timeLimit(.minutes(10)), arguments: [0, 1, 2])
    func keptTask(_ kind: Int) async throws {
        final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
            let witness: DeinitWitness
            init(_ witness: DeinitWitness) { self.witness = witness }
        }
        let loads = ScriptedLoadSource()
        let session = loads.session(nil)
        let (ends, end) = AsyncStream<Void>.makeStream()
        func start() -> URLSessionTask {
            let witness = DeinitWitness { end.yield() }
            let task: URLSessionTask
            switch kind {
            case 0: task = session.dataTask(with: someURL()) { _, _, _ in withExtendedLifetime(witness) {} }
            case 1:
                task = session.downloadTask(with: someURL()) { _, _, _ in withExtendedLifetime(witness) {} }
            default:
                task = session.dataTask(with: someURL())
                task.delegate = Delegate(witness)
            }
            task.resume()
            return task
        }
        let task = start()
        await loads.load().end()
        var ended = ends.makeAsyncIterator()
        await ended.next()
        #expect(task.state == .completed && task.delegate == nil)
        session.invalidateAndCancel()
    }

    /// An executor that runs jobs on a queue, and calls `act` once before.
    private final class InterceptingExecutor: TaskExecutor {
        let act = LockedValue<(@Sendable () -> Void)?>(nil)
        private let queue = DispatchQueue(label: "meddler")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let act = act.value
            self.act.set(nil)
            act?()
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test(
        "[U-4.7] an awaiting caller resumes at once, and a handler is called on the queue")
    func awaitedHandler() async throws {
        let loads = ScriptedLoadSource()
        let session = loads.session(nil)
        let executor = InterceptingExecutor()
        let request = URLRequest(url: someURL())
        let upload = Task(executorPreference: executor) {
            try await session.upload(for: request, from: Data("a".utf8)).0
        }
        let load = await loads.load()
        let task = try #require(await session.allTasks.first as? URLSessionUploadTask)
        let (calls, call) = AsyncStream<ObjectIdentifier>.makeStream()
        load.respond()
        let loop = Self.end(load) {
            executor.act.set {
                task.cancel { _ in call.yield(Self.thread) }
            }
        }
        var called = calls.makeAsyncIterator()
        #expect(await called.next() != loop)
        #expect(try await upload.value.isEmpty)
        session.invalidateAndCancel()
    }

    /// Starts a request and drops it after the head has arrived: session, task and request are released, except by the load.
    private static func abandon(_ url: URL, _ witness: DeinitWitness) async throws {
        let request = NSMutableURLRequest(url: url)
        URLProtocol.setProperty(witness, forKey: "parting", in: request)
        let session = URLSession(configuration: DriverLoad.configuration())
        let (bytes, _) = try await session.bytes(for: request as URLRequest)
        withExtendedLifetime(bytes) {}
    }

    @Test("[O-7] properties of an abandoned request are not released on a loop")
    func abandonedRequest() async throws {
        let origin = try LupineOrigin.Origin.start()
        origin.script(
            "GET", "/head", ScriptPlan(.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .stall))
        let url = try #require(URL(string: origin.url + "/head"))
        let (ends, end) = AsyncStream<Bool>.makeStream()
        try await Self.abandon(url, DeinitWitness { end.yield(EventLoop.current != nil) })
        var ended = ends.makeAsyncIterator()
        #expect(await ended.next() == false)
        await origin.shutdown()
    }

    /// Runs `first`, ends the load on this thread, and returns the thread.
    private static func end(_ load: ScriptedLoad, _ first: () -> Void) -> ObjectIdentifier {
        first()
        load.client.driverEnded(nil, .none)
        return thread
    }

    private static var thread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// Fires the load's timer on this thread, and returns the thread.
    private static func ring(_ load: ScriptedLoad) -> ObjectIdentifier {
        load.fireTimeout()
        return thread
    }

    /// A way in which a cookie storage discards an evaluator.
    enum Removal: CaseIterable, Sendable { case crowded, emptied, cleared }

    @Test(
        "[O-6] an evaluator whose cookies are removed may call the storage from deinit",
        arguments: Removal.allCases)
    func forgottenEvaluator(_ removal: Removal) async throws {
        let storage = HTTPCookieStorage(file: nil)
        let ends = LockedValue(0)
        let url = try #require(URL(string: "https://h.example/"))
        func cookie(_ name: String) throws -> HTTPCookie {
            try #require(
                HTTPCookie(properties: [
                    .name: name, .value: "1", .domain: "h.example", .path: "/",
                    .expires: Date(timeIntervalSinceNow: 1000),
                ]))
        }
        func judge(_ callback: @escaping @Sendable () -> Void) -> TrustJudge {
            let witness = DeinitWitness(callback)
            return TrustJudge(
                objects: [],
                evaluator: .custom { _, _ in withExtendedLifetime(witness) {} }, roots: "r")
        }
        func store(_ name: String, _ callback: @escaping @Sendable () -> Void) throws {
            storage.store(
                [try cookie(name)], from: url, mainDocumentURL: nil, policy: .always, onlyFor: judge(callback)
            )
        }
        let (notified, ended) = AsyncStream.makeStream(of: Void.self)
        try store("first") { [weak storage] in
            _ = storage?.cookies
            ends.update { $0 += 1 }
            ended.yield()
        }
        #expect(storage.hasUncheckedCookies && ends.value == 0)
        switch removal {
        case .crowded: for number in 0..<16 { try store("n\(number)") {} }
        case .emptied: storage.deleteCookie(try cookie("first"))
        case .cleared: storage.removeCookies(since: .distantPast)
        }
        for await _ in notified { break }
        #expect(ends.value == 1 && storage.cookies != nil)
    }
}
