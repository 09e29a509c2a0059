// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import LupineOrigin
import LupineTransport
import Testing

@testable import Lupine

/// Requests in which no code of the program's takes part, as they were made: their steps are taken where they are brought, and those in
/// which the program has had itself called since, on the root queue.
struct PlainRequestTests {
    /// Whether the caller is on the session's root queue.
    private static func isOnRoot(_ session: Session) -> Bool { session.rootMark.isCurrent }

    @Test("[O-8] while the root queue is held, a request without code of the program's comes to its end")
    func heldRootQueue() async throws {
        try await withObserved { stage in
            stage.session.rootQueue.suspend()
            defer { stage.session.rootQueue.resume() }
            let awaited = await stage.session.request(stage.url("/get")).validate().serializingData()
                .response
            #expect(awaited.response?.statusCode == 200 && awaited.value?.isEmpty == false)
            let refused = await stage.session.request(stage.url("/status/404")).validate().serializingData()
                .response
            #expect(refused.error?.responseCode == 404)
            #expect(await stage.session.request(stage.url("/get")).answered().error == nil)
            let unstarted = stage.session.request(stage.url("/get"), shouldAutomaticallyResume: false)
            unstarted.cancel()
            #expect(await unstarted.answered().error?.isExplicitlyCancelledError == true)
        }
    }

    @Test(
        "[O-8] while the root queue is held, an answer from the cache comes, and a request that has none fails"
    )
    func heldRootQueueAndCache() async throws {
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, directory: nil)
        let configure: (URLSessionConfiguration) -> Void = { $0.urlCache = cache }
        try await withObserved(configure: configure) { stage in
            let url = stage.url("/cache/60")
            _ = await stage.session.request(url).serializingData().response
            stage.session.rootQueue.suspend()
            defer { stage.session.rootQueue.resume() }
            let stored = await stage.session.request(url).serializingData().response
            #expect(stored.error == nil)
            #expect(stored.metrics?.transactionMetrics.last?.resourceFetchType == .localCache)
            var missing = URLRequest(url: try #require(URL(string: stage.url("/cache/61"))))
            missing.cachePolicy = .returnCacheDataDontLoad
            let refused = await stage.session.request(missing).serializingData().response
            #expect(refused.error?.underlyingError as? URLError != nil)
        }
    }

    /// What the program may have itself called by.
    enum Part: CaseIterable, Sendable { case validator, retrier, redirectHandler, cachedResponseHandler }

    @Test(
        "[O-8] what the program adds while a request is under way is called on the root queue",
        arguments: Part.allCases)
    func added(_ part: Part) async throws {
        try await withObserved { stage in
            let heard = Heard<Bool>()
            let session = stage.session
            let hear: @Sendable () -> Void = { [unowned session] in heard.add(Self.isOnRoot(session)) }
            let answer =
                switch part {
                case .validator: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                case .retrier: "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno"
                case .redirectHandler:
                    "HTTP/1.1 302 There\r\nLocation: \(stage.url("/get"))\r\nContent-Length: 0\r\n\r\n"
                case .cachedResponseHandler:
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=9\r\nContent-Length: 2\r\n\r\nok"
                }
            let request = stage.held(answer: answer).validate()
            let task = request.serializingData()
            await stage.wasAsked()
            switch part {
            case .validator:
                request.validate { _, _, _ in
                    hear()
                    return .success(())
                }
            case .retrier:
                request.retry(
                    using: Retrier { _, _, _, answer in
                        hear()
                        answer(.doNotRetry)
                    })
            case .redirectHandler:
                request.redirect(
                    using: Redirector(
                        behavior: .modify { _, request, _ in
                            hear()
                            return request
                        }))
            case .cachedResponseHandler:
                request.cacheResponse(
                    using: ResponseCacher(
                        behavior: .modify { _, response in
                            hear()
                            return response
                        }))
            }
            stage.letGo()
            let response = await task.response
            #expect((response.error == nil) == (part != .retrier))
            // A retrier is asked about the attempt, then about the serializer.
            #expect(await heard.wait(for: part == .retrier ? 2 : 1).allSatisfy { $0 })
        }
    }

    @Test("[O-8] the rest of a step that may not go on where it is comes next, on the root queue")
    func restOfAStep() async throws {
        try await withObserved { stage in
            let heard = Heard<String>()
            let session = stage.session
            let request = session.request(stage.url("/get"))
            let hear: @Sendable (String) -> Void = { [unowned session] in
                heard.add("\($0) \(Self.isOnRoot(session))")
            }
            request.step {
                request.step { hear("next") }
                request.goOnInStep { _ in hear("plain") }
                request.validate { _, _, _ in .success(()) }
                request.goOnInStep { _ in hear("rest") }
            }
            #expect(await heard.wait(for: 3) == ["plain false", "rest true", "next true"])
        }
    }

    @Test("[O-8] a validator that is added in the midst of a step is not called in it")
    func addedInAStep() async throws {
        try await withObserved { stage in
            let request = stage.session.request(stage.url("/get")).validate()
            let counts = Heard<Int>()
            request.step {
                request.goOnInStep { validators in
                    request.validate { _, _, _ in .success(()) }
                    counts.add(validators.count)
                }
                request.goOnInStep { counts.add($0.count) }
            }
            #expect(await counts.wait(for: 2) == [2, 3])
        }
    }

    @Test("[E-2] notifications keep their order when the program begins to listen in the midst of a step")
    func listening() async throws {
        try await withObserved(monitors: [AlamofireNotifications()]) { stage in
            let request = stage.session.request(stage.url("/get"))
            let heard = Heard<String>()
            let names = [Request.didResumeNotification, Request.didSuspendNotification]
            let tokens = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { posted in
                    if posted.request === request { heard.add(name == names[0] ? "resumed" : "suspended") }
                }
            }
            defer { for token in tokens { NotificationCenter.default.removeObserver(token) } }
            request.step {
                request.monitors?.requestDidResume(request)
                request.eventMonitor(ClosureEventMonitor(queue: .main))
                request.monitors?.requestDidSuspend(request)
            }
            #expect(await heard.wait(for: 2) == ["resumed", "suspended"])
        }
    }

    @Test("[O-8] a retrier is not called in the midst of a call of the program's, which may hold a lock")
    func notInACall() async throws {
        let isCalling = Protected(false)
        let heard = Heard<Bool>()
        let retrier = Retrier { _, _, _, answer in
            heard.add(isCalling.read { $0 })
            answer(.doNotRetry)
        }
        try await withObserved(interceptor: Interceptor(retriers: [retrier])) { stage in
            let request = stage.session.request(stage.url("/bytes/0"))
            #expect(await request.answered().error == nil)
            // The serializer of a handler that comes late fails: there is no content.
            stage.session.rootQueue.async {
                isCalling.write(true)
                request.responseData(queue: DispatchQueue(label: "handler")) { _ in }
                isCalling.write(false)
            }
            #expect(await heard.wait(for: 1) == [false])
        }
    }

    @Test("[O-8] a call on the root queue takes no step of the program's that comes meanwhile")
    func stepsInACall() async throws {
        try await withObserved { stage in
            let isCalling = Protected(false)
            let heard = Heard<Bool>()
            let request = stage.session.request(stage.url("/get"))
            stage.session.rootQueue.async {
                isCalling.write(true)
                request.step(calledByProgram: true) {
                    request.step { heard.add(isCalling.read { $0 }) }
                    request.validate { _, _, _ in .success(()) }
                    request.onRootQueue { heard.add(isCalling.read { $0 }) }
                }
                isCalling.write(false)
            }
            #expect(await heard.wait(for: 2) == [false, false])
        }
    }

    /// A delegate of the program's, between a `URLSession` and the delegate of a `Session`.
    private final class Between: NSObject, URLSessionDataDelegate {
        let inner: SessionDelegate
        let hear: @Sendable () -> Void

        init(_ inner: SessionDelegate, hear: @escaping @Sendable () -> Void) {
            (self.inner, self.hear) = (inner, hear)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            hear()
            inner.urlSession(session, dataTask: dataTask, didReceive: data)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            hear()
            inner.urlSession(session, task: task, didFinishCollecting: metrics)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
        ) {
            hear()
            inner.urlSession(session, task: task, didCompleteWithError: error)
        }
    }

    @Test("[O-8] a delegate of the program's is told on the root queue")
    func delegateInBetween() async throws {
        try await withObserved { stage in
            let root = DispatchQueue(label: "root")
            let mark = RootQueueMark.mark(of: root)
            let heard = Heard<Bool>()
            let inner = SessionDelegate()
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            unsafe queue.underlyingQueue = root
            let session = Session(
                session: URLSession(
                    configuration: stage.session.sessionConfiguration,
                    delegate: Between(inner) { heard.add(mark.isCurrent) }, delegateQueue: queue),
                delegate: inner, rootQueue: root, eventMonitors: [])
            let response = await session.request(stage.url("/bytes/1")).serializingData().response
            #expect(response.error == nil)
            #expect(await heard.wait(for: 3).allSatisfy { $0 })
            session.session.invalidateAndCancel()
        }
    }

    @Test("[E-1] what a step notifies of is posted before a serializer of the program's gets the response")
    func beforeTheSerializer() async throws {
        let origin = try LupineOrigin.Origin.start()
        let session = Session(
            configuration: .ephemeral, serializationQueue: .main, eventMonitors: [AlamofireNotifications()])
        let request = session.request(origin.url + "/bytes/1", shouldAutomaticallyResume: false)
        let heard = Heard<String>()
        let token = NotificationCenter.default.addObserver(
            forName: Request.didFinishNotification, object: nil, queue: nil
        ) { posted in
            if posted.request === request { heard.add("finished") }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        request.response(
            responseSerializer: HostileLockTests.Making {
                heard.add("serialized")
                return 1
            }
        ) { _ in }
        request.resume()
        #expect(await heard.wait(for: 2) == ["finished", "serialized"])
        session.session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test("whoever awaited a response finds its task gone from the session")
    func endedTasks() async throws {
        try await withObserved { stage in
            for _ in 0..<100 {
                let request = stage.session.request(stage.url("/bytes/1"))
                _ = await request.serializingData().response
                let tasks = await called { stage.session.session.getAllTasks(completionHandler: $0) }
                #expect(tasks.isEmpty)
            }
        }
    }

    @Test("[S-11] what is added to a request that is set up at once has a say in it")
    func eager() async throws {
        let origin = try LupineOrigin.Origin.start()
        let session = Session(configuration: .ephemeral, requestSetup: .eager, eventMonitors: [])
        let adapter = Adapter { request, _, completion in
            var request = request
            request.headers.add(name: "Adapted", value: "yes")
            completion(.success(request))
        }
        session.rootQueue.suspend()
        let request = session.request(origin.url + "/get").adapt(using: adapter)
        session.rootQueue.resume()
        _ = await request.serializingData().response
        #expect(request.request?.headers["Adapted"] != nil)
        session.session.invalidateAndCancel()
        await origin.shutdown()
    }

    @Test("[O-7] what is added to a request under way goes away on no loop")
    func latePartings() async throws {
        try await withObserved { stage in
            let count = 50
            let heard = Heard<Bool>()
            for number in 0..<count {
                let parting = Parting { heard.add(EventLoop.current != nil) }
                let request = stage.held("/held/\(number)")
                let task = request.serializingData()
                await stage.wasAsked("/held/\(number)")
                request.validate { _, _, _ in
                    parting.stays()
                    return .success(())
                }
                stage.letGo("/held/\(number)")
                _ = await task.response
            }
            #expect(await !heard.wait(for: count).contains(true))
        }
    }

    @Test("[O-7] what handlers hold goes away on no loop")
    func partings() async throws {
        try await withObserved { stage in
            let count = 50
            let heard = Heard<Bool>()
            for index in 0..<count {
                let parting = Parting { heard.add(EventLoop.current != nil) }
                let request = stage.session.request(stage.url("/bytes/1"))
                if index % 2 == 0 { request.onHTTPResponse { _ in parting.stays() } }
                _ = await called { answer in
                    request.response(queue: DispatchQueue(label: "handler")) {
                        parting.stays()
                        answer($0.error == nil)
                    }
                }
            }
            #expect(await !heard.wait(for: count).contains(true))
        }
    }
}
