// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of a session's tasks and delegate, independently of what the tasks load.
struct URLSessionTests {
    // MARK: tasks

    @Test("[U-4.8] tasks are numbered from 1, in each session")
    func identifiers() {
        let loads = ScriptedLoadSource()
        for _ in 0..<2 {
            let session = loads.session()
            let tasks: [URLSessionTask] = [
                session.dataTask(with: someURL()),
                session.uploadTask(with: URLRequest(url: someURL()), from: Data()),
                session.downloadTask(with: someURL()), session.webSocketTask(with: someURL()),
            ]
            #expect(tasks.map(\.taskIdentifier) == [1, 2, 3, 4])
            session.invalidateAndCancel()
        }
    }

    @Test("unfinished tasks are listed, also those never resumed; finished ones are not")
    func taskLists() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        let data = session.dataTask(with: someURL())
        let upload = session.uploadTask(withStreamedRequest: URLRequest(url: someURL()))
        let download = session.downloadTask(with: someURL())
        let done = session.dataTask(with: someURL())
        done.resume()
        await loads.load().answer("")
        await delegate.log.wait(for: "complete")
        #expect(await session.allTasks == [data, upload, download])
        let (datas, uploads, downloads) = await session.tasks
        #expect(datas == [data])
        #expect(uploads == [upload])
        #expect(downloads == [download])
        session.invalidateAndCancel()
    }

    @Test(
        "[U-4.9] an invalidated session lists no task that it cancelled, and those that may finish",
        arguments: [[false], [true], [false, true]])
    func taskListsOfAnInvalidSession(cancelling: [Bool]) async {
        let loads = ScriptedLoadSource()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = loads.session(RecordingDelegate(), queue: queue)
        let tasks: [URLSessionTask] = [
            session.dataTask(with: someURL()), session.downloadTask(with: someURL()),
            session.uploadTask(with: URLRequest(url: someURL()), from: Data()),
            session.webSocketTask(with: someURL()),
        ]
        tasks[0].resume()
        _ = await loads.load()
        // On the delegate queue, so that no task can make its last call before the lists are complete.
        let (all, kinds) = await withCheckedContinuation { waiting in
            queue.addOperation {
                let found = Lock<([URLSessionTask]?, [URLSessionTask]?)>((nil, nil))
                for cancels in cancelling {
                    if cancels { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
                }
                session.getAllTasks { all in found.withLock { $0.0 = all } }
                session.getTasksWithCompletionHandler { data, uploads, downloads in
                    let found = found.withLock { found in
                        found.1 = data + uploads + downloads
                        return found
                    }
                    waiting.resume(returning: (found.0, found.1))
                }
            }
        }
        if cancelling.contains(true) {
            #expect(all == [] && kinds == [])
        } else {
            #expect(all == tasks && kinds == [tasks[0], tasks[2], tasks[1]])
        }
        session.invalidateAndCancel()
    }

    @Test("[U-6.8] progress is the sum of sent and received; it ends complete, and cancels the task")
    func progress() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        let task = session.uploadTask(with: URLRequest(url: someURL()), from: Data(count: 10))
        #expect(task.progress.isIndeterminate)
        task.resume()
        let load = await loads.load()
        load.client.driverSent(total: 10, expected: 10)
        load.respond(["Content-Length": "5"])
        load.send("abc")
        #expect(task.progress.totalUnitCount == 15)
        #expect(task.progress.completedUnitCount == 13)
        load.send("de")
        load.end()
        await delegate.log.wait(for: "complete nil")
        #expect(task.progress.completedUnitCount == 15)
        let unknown = session.dataTask(with: someURL())
        unknown.resume()
        await loads.load(1).end()
        await delegate.log.wait(for: "complete nil", count: 2)
        #expect(unknown.progress.completedUnitCount == 1)
        #expect(unknown.progress.totalUnitCount == 1)
        let cancelled = session.dataTask(with: someURL())
        cancelled.progress.cancel()
        await delegate.log.wait(for: "complete -999")
        session.invalidateAndCancel()
    }

    @Test("the counts of sent, received and expected bytes")
    func counts() async {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let task = session.uploadTask(with: URLRequest(url: someURL()), from: Data(count: 10))
        #expect(task.countOfBytesExpectedToSend == 10)
        #expect(task.countOfBytesExpectedToReceive == NSURLSessionTransferSizeUnknown)
        task.resume()
        let load = await loads.load()
        load.client.driverSent(total: 4, expected: 10)
        load.respond(["Content-Length": "5"])
        load.send("abc")
        #expect(task.countOfBytesSent == 4)
        #expect(task.countOfBytesReceived == 3)
        #expect(task.countOfBytesExpectedToReceive == 5)
        #expect(session.dataTask(with: someURL()).countOfBytesExpectedToSend == 0)
        session.invalidateAndCancel()
    }

    @Test("a priority is between 0 and 1, and is passed to the load")
    func priority() async {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let task = session.dataTask(with: someURL())
        #expect(task.priority == URLSessionTask.defaultPriority)
        task.priority = 7
        #expect(task.priority == 1)
        task.resume()
        let load = await loads.load()
        task.priority = -1
        #expect(task.priority == 0)
        task.priority = .nan
        #expect(task.priority == 0)
        #expect(load.calls.filter { $0.hasPrefix("priority") } == ["priority 1.0", "priority 0.0"])
        session.invalidateAndCancel()
    }

    @Test("[U-6.9, T-3] copying a task returns it, and tasks are keys by identity")
    func identity() {
        let session = ScriptedLoadSource().session()
        let first = session.dataTask(with: someURL())
        let second = session.dataTask(with: someURL())
        #expect(first.copy() as? URLSessionTask === first)
        #expect([first: 1, second: 2][first] == 1)
        #expect(first != second)
        session.invalidateAndCancel()
    }

    @Test(
        "[U-6.1, U-6.3, U-6.4] one resume undoes several suspensions; the load is suspended and resumed")
    func suspension() async {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        let task = session.dataTask(with: someURL())
        task.suspend()
        task.suspend()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state == .running)
        let load = await loads.load()
        task.suspend()
        task.suspend()
        #expect(task.state == .suspended)
        task.resume()
        #expect(task.state == .running)
        #expect(load.calls == ["start", "suspended true", "suspended false"])
        session.invalidateAndCancel()
    }

    @Test("[T-3, U-1.1] the original request stays, the current one changes with the hops")
    func requests() async {
        let loads = ScriptedLoadSource()
        let session = loads.session()
        var request = URLRequest(url: someURL("/a"))
        let task = session.dataTask(with: request)
        request.url = someURL("/changed")
        task.resume()
        let load = await loads.load()
        load.client.driverWillSend(URLRequest(url: someURL("/b")))
        #expect(task.originalRequest?.url == someURL("/a"))
        #expect(task.currentRequest?.url == someURL("/b"))
        session.invalidateAndCancel()
    }

    @Test("a task without a session does nothing")
    func stranger() {
        let task = URLSessionTask()
        #expect(task.originalRequest == nil)
        task.resume()
        task.cancel()
        #expect(task.taskIdentifier == 0)
    }

    // MARK: handlers

    @Test("[U-4.5, U-4.6] a handler replaces response, data and completion; metrics are still reported")
    func handler() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        let (data, response, error) = await withCheckedContinuation { continuation in
            session.dataTask(with: someURL()) { continuation.resume(returning: ($0, $1, $2)) }.resume()
            Task {
                let load = await loads.load()
                load.respond()
                load.send("hel")
                load.send("lo")
                load.end()
            }
        }
        #expect(data == Data("hello".utf8))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(error == nil)
        #expect(delegate.log.entries == ["created 1", "metrics"])
        session.invalidateAndCancel()
    }

    @Test(
        "[U-4.6] without a body a handler gets empty data; after a failure none, but the received response"
    )
    func handlerArguments() async {
        let loads = ScriptedLoadSource { load in
            load.respond()
            if load.url.path() == "/fails" {
                load.send("half")
                load.end(URLError(.networkConnectionLost))
            } else {
                load.end()
            }
        }
        let session = loads.session()
        let (empty, _, none) = await result(session, "/")
        #expect(empty == Data())
        #expect(none == nil)
        let (nothing, response, error) = await result(session, "/fails")
        #expect(nothing == nil)
        #expect(response != nil)
        #expect((error as? URLError)?.code == .networkConnectionLost)
        session.invalidateAndCancel()
    }

    private func result(_ session: URLSession, _ path: String) async -> (Data?, URLResponse?, (any Error)?) {
        await withCheckedContinuation { continuation in
            session.dataTask(with: someURL(path)) { continuation.resume(returning: ($0, $1, $2)) }.resume()
        }
    }

    @Test("a body over the limit of collected bodies fails its task", arguments: [true, false])
    func collectingLimit(announces: Bool) async {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.lupine.collectedBodyLimit = 8
        let loads = ScriptedLoadSource()
        let session = loads.session(configuration: configuration)
        async let failed = result(session, "/")
        let load = await loads.load()
        load.respond(announces ? ["Content-Length": "9"] : [:])
        if !announces {
            load.send("12345678")
            load.send("9")
        }
        #expect((await failed.2 as? URLError)?.code == .dataLengthExceedsMaximum)
        async let fits = result(session, "/")
        await loads.load(1).answer("12345678")
        #expect(await fits.0?.count == 8)
        session.invalidateAndCancel()
    }

    @Test("a task with a handler adds one operation to the delegate queue")
    func oneOperation() async {
        let loads = ScriptedLoadSource()
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        operations.isSuspended = true
        let session = loads.session(queue: operations)
        let done = OneTimeEvent()
        session.dataTask(with: someURL()) { _, _, _ in done.occur() }.resume()
        let load = await loads.load()
        load.respond()
        for _ in 0..<100 { load.send("x") }
        load.end()
        #expect(operations.operationCount == 1)
        operations.isSuspended = false
        await done.wait()
        session.invalidateAndCancel()
    }

    // MARK: invalidation

    @Test(
        "[U-4.3, T-13] invalidation cancels every task; the delegate's last call reports it, once",
        arguments: [true, false])
    func invalidation(ownerStays: Bool) async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        do {
            let session = loads.session(delegate)
            let running = session.dataTask(with: someURL())
            running.resume()
            _ = session.dataTask(with: someURL())
            _ = await loads.load()
            session.invalidateAndCancel()
            if ownerStays {
                await delegate.log.wait(for: "invalid")
                // The delegate is released when the call has returned, before any operation that is queued after it runs.
                let queue = session.delegateQueue
                await withCheckedContinuation { continuation in
                    queue.addOperation { continuation.resume() }
                }
                #expect(session.delegate == nil, "[U-4.2] the delegate is let go")
            }
            session.invalidateAndCancel()
            session.finishTasksAndInvalidate()
        }
        await delegate.log.wait(for: "invalid")
        let entries = delegate.log.entries
        #expect(entries.count { $0 == "complete -999" } == 2)
        #expect(entries.count { $0 == "metrics" } == 2)
        #expect(entries.last == "invalid true")
        #expect(entries.count { $0.hasPrefix("invalid") } == 1)
    }

    @Test("[U-4.3] a session without tasks reports its invalidation, too")
    func invalidationWithoutTasks() async {
        let delegate = RecordingDelegate()
        ScriptedLoadSource().session(delegate).finishTasksAndInvalidate()
        await delegate.log.wait(for: "invalid")
        #expect(delegate.log.entries == ["invalid true"])
    }

    @Test("[U-4.3] finishTasksAndInvalidate lets existing tasks finish")
    func finishing() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        session.finishTasksAndInvalidate()
        load.answer("hello")
        await delegate.log.wait(for: "invalid")
        #expect(
            delegate.log.entries == [
                "created 1", "response 200", "data hello", "metrics", "complete nil", "invalid true",
            ])
    }

    @Test(
        "[U-4.4] a task of an invalid session is cancelled when it is resumed, without calls of the delegate"
    )
    func afterTheEnd() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        session.invalidateAndCancel()
        await delegate.log.wait(for: "invalid")
        let silent = session.dataTask(with: someURL())
        silent.resume()
        #expect(silent.state == .completed)
        let (data, response, error) = await result(session, "/")
        #expect(data == nil && response == nil)
        #expect((error as? URLError)?.code == .cancelled)
        await #expect(throws: URLError.self) { try await session.data(from: someURL()) }
        #expect(delegate.log.entries == ["invalid true"])
        #expect(loads.count == 0)
    }

    @Test("[U-4.4] a task of an invalid session that is never resumed is released by its creator")
    func neverResumed() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        session.invalidateAndCancel()
        await delegate.log.wait(for: "invalid")
        weak var kept: URLSessionTask?
        do {
            let task = session.dataTask(with: someURL())
            kept = task
            #expect(task.state == .suspended)
        }
        #expect(kept == nil)
    }

    @Test("[U-4.4] a task that the invalidation cancelled cannot be resumed")
    func resumedTooLate() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        let task = session.dataTask(with: someURL())
        session.invalidateAndCancel()
        task.resume()
        await delegate.log.wait(for: "invalid")
        #expect(task.state == .completed)
        #expect(loads.count == 0)
    }

    @Test("[U-4.3] the shared session cannot be invalidated")
    func shared() {
        URLSession.shared.invalidateAndCancel()
        URLSession.shared.finishTasksAndInvalidate()
        #expect(URLSession.shared.core.admit(URLSession.shared.dataTask(with: someURL()).core))
        #expect(URLSession.shared.delegate == nil)
    }

    @Test("[U-4.2] a session lives while one of its tasks is unfinished, and is released afterwards")
    func lifetime() async {
        let loads = ScriptedLoadSource()
        weak var session: URLSession?
        weak var delegate: RecordingDelegate?
        let log = CallLog()
        do {
            let strong = RecordingDelegate(log)
            delegate = strong
            let made = loads.session(strong)
            session = made
            made.dataTask(with: someURL()).resume()
        }
        let load = await loads.load()
        #expect(session != nil && delegate != nil)
        let queue = session?.delegateQueue
        load.answer("hello")
        await log.wait(for: "complete nil")
        // The call that completes a task ends before any operation that is queued after it runs.
        await withCheckedContinuation { continuation in queue?.addOperation { continuation.resume() } }
        #expect(session == nil)
        #expect(delegate == nil)
    }

    @Test("[U-4.2] a finished task does not retain what its session loaded with")
    func finishedTask() async {
        weak var held: OneTimeEvent?
        let delegate = RecordingDelegate()
        let task: URLSessionTask
        let queue: OperationQueue
        do {
            let moment = OneTimeEvent()
            held = moment
            let session = ScriptedLoadSource { load in
                moment.occur()
                load.answer("hello")
            }.session(delegate)
            queue = session.delegateQueue
            task = session.dataTask(with: someURL())
            task.resume()
        }
        await delegate.log.wait(for: "complete nil")
        // The call that completes a task ends before any operation that is queued after it runs.
        await withCheckedContinuation { continuation in queue.addOperation { continuation.resume() } }
        #expect(held == nil)
        #expect(task.state == .completed)
    }

    @Test("[U-3.2] `configuration` is a new copy at each call")
    func configuration() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 7
        let session = ScriptedLoadSource().session(configuration: configuration)
        configuration.timeoutIntervalForRequest = 8
        #expect(session.configuration.timeoutIntervalForRequest == 7)
        session.configuration.timeoutIntervalForRequest = 9
        #expect(session.configuration.timeoutIntervalForRequest == 7)
        #expect(session.configuration.httpCookieStorage === configuration.httpCookieStorage)
        session.invalidateAndCancel()
    }

    @Test("[U-4.1] reset and flush call their handlers on the delegate queue; reset empties the stores")
    func stores() async throws {
        let operations = OperationQueue()
        let queue = DispatchQueue(label: "test")
        unsafe operations.underlyingQueue = queue
        let configuration = URLSessionConfiguration.ephemeral
        let session = ScriptedLoadSource().session(queue: operations, configuration: configuration)
        let cookie = try #require(
            HTTPCookie(properties: [.name: "a", .value: "b", .path: "/", .domain: "localhost"]))
        configuration.httpCookieStorage?.setCookie(cookie)
        await withCheckedContinuation { continuation in
            session.flush {
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume()
            }
        }
        #expect(configuration.httpCookieStorage?.cookies?.count == 1)
        await withCheckedContinuation { continuation in
            session.reset {
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume()
            }
        }
        #expect(configuration.httpCookieStorage?.cookies?.isEmpty == true)
        session.invalidateAndCancel()
    }
}
