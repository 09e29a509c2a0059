// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

/// Tests of the calls that a delegate gets of a task, and of their order.
struct CallOrderTests {
    @Test(
        "[U-5.1, U-5.2, U-5.6, U-4.1] delegate calls in Apple's order, on the queue, metrics and completion last"
    )
    func wholeTask() async {
        let loads = ScriptedLoadSource()
        let queue = DispatchQueue(label: "test")
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        unsafe operations.underlyingQueue = queue
        let delegate = RecordingDelegate(onCall: { _ in dispatchPrecondition(condition: .onQueue(queue)) })
        let session = loads.session(delegate, queue: operations)
        let task = session.dataTask(with: someURL())
        task.resume()
        let load = await loads.load()
        load.client.driverWaitsForConnectivity()
        load.client.driverSent(total: 5, expected: 5)
        await delegate.log.wait(for: "sent")
        guard
            let interim = HTTPURLResponse(
                url: load.url, statusCode: 103, httpVersion: nil, headerFields: nil)
        else { return }
        load.client.driverReceivedInterimResponse(interim)
        load.answer("hello")
        await delegate.log.wait(for: "complete")
        #expect(
            delegate.log.entries == [
                "created 1", "waits", "sent 5 5/5", "interim 103", "response 200", "data hello", "metrics",
                "complete nil",
            ])
        #expect(task.state == .completed)
    }

    @Test("[T-7, U-5.4] pieces are delivered as they arrive, and no empty ones")
    func pieces() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        load.respond()
        for text in ["a", "b", "c"] { load.send(text) }
        load.end()
        session.dataTask(with: someURL()).resume()
        await loads.load(1).answer("")
        await delegate.log.wait(for: "complete", count: 2)
        #expect(delegate.log.entries.filter { $0.hasPrefix("data") } == ["data a", "data b", "data c"])
        session.invalidateAndCancel()
    }

    @Test("[U-5.5, T-6, U-5.10] no data before the response is allowed; only the first answer counts")
    func disposition() async {
        let loads = ScriptedLoadSource()
        let handler = LockedValue<RecordingDelegate.Allow?>(nil)
        let delegate = RecordingDelegate(onResponse: { _, allow in handler.set(allow) })
        let session = loads.session(delegate)
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        load.answer("hello")
        await delegate.log.wait(for: "response")
        // If the data were not held back, it would have come in the same turn as the response.
        let next = session.dataTask(with: someURL())
        await delegate.log.wait(for: "created \(next.taskIdentifier)")
        #expect(!delegate.log.entries.contains("data hello"))
        handler.value?(.allow)
        handler.value?(.cancel)
        await delegate.log.wait(for: "complete")
        #expect(delegate.log.entries.suffix(3) == ["data hello", "metrics", "complete nil"])
        session.invalidateAndCancel()
    }

    @Test("[T-6, U-5.10] a refused response cancels the task, on any thread")
    func cancelDisposition() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate(onResponse: { _, allow in
            DispatchQueue.global().async { allow(.cancel) }
        })
        let session = loads.session(delegate)
        let task = session.dataTask(with: someURL())
        task.resume()
        await loads.load().answer("hello")
        await delegate.log.wait(for: "complete")
        #expect(delegate.log.entries == ["created 1", "response 200", "metrics", "complete -999"])
        session.invalidateAndCancel()
    }

    @Test("[U-5.3, T-5] after cancel no further call is made, not even one that waits on the queue")
    func cancelDropsWhatWaits() async {
        let loads = ScriptedLoadSource()
        let queue = DispatchQueue(label: "test")
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        unsafe operations.underlyingQueue = queue
        let delegate = RecordingDelegate()
        let session = loads.session(delegate, queue: operations)
        let task = session.dataTask(with: someURL())
        await delegate.log.wait(for: "created")
        task.resume()
        let load = await loads.load()
        queue.suspend()
        load.respond()
        load.send("hello")
        task.cancel()
        #expect(task.state == .canceling, "[T-2] the state changes at once")
        queue.resume()
        await delegate.log.wait(for: "complete")
        #expect(delegate.log.entries == ["created 1", "metrics", "complete -999"])
        #expect(
            load.calls == ["start", "suspended false", "cancel -999"]
                || load.calls == ["start", "cancel -999"])
        session.invalidateAndCancel()
    }

    @Test("[U-5.3] a task that is cancelled in one of its calls only gets the completion")
    func cancelWithin() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate(onResponse: { task, allow in
            task.cancel()
            allow(.allow)
        })
        let session = loads.session(delegate)
        session.dataTask(with: someURL()).resume()
        await loads.load().answer("hello")
        await delegate.log.wait(for: "complete")
        #expect(delegate.log.entries == ["created 1", "response 200", "metrics", "complete -999"])
        session.invalidateAndCancel()
    }

    @Test("[U-5.1, U-6.5, T-4] a task that was never resumed completes when it is cancelled")
    func neverResumed() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        let task = session.dataTask(with: someURL())
        task.cancel()
        // The task may have ended already.
        #expect(task.state == .canceling || task.state == .completed)
        await delegate.log.wait(for: "complete")
        #expect(
            delegate.log.entries == ["metrics", "complete -999"]
                || delegate.log.entries == ["created 1", "metrics", "complete -999"])
        #expect(loads.count == 0)
        session.invalidateAndCancel()
    }

    @Test(
        "[U-5.10] the resource time-out ends a task whose delegate does not answer; another error waits for the answer"
    )
    func neverAnswered() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate(onResponse: { _, _ in })
        let session = loads.session(delegate)
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        load.respond()
        load.send("hello")
        await delegate.log.wait(for: "response")
        load.end(URLError(.timedOut))
        await delegate.log.wait(for: "complete")
        #expect(delegate.log.entries == ["created 1", "response 200", "metrics", "complete -1001"])
        session.invalidateAndCancel()
    }

    @Test(
        "[U-5.10] after the load's end only the resource time-out ends the wait for a disposition, once",
        .timeLimit(.minutes(10)), arguments: [nil, URLError.Code.networkConnectionLost])
    func neverAnsweredAfterTheEnd(code: URLError.Code?) async throws {
        for answers in [false, true] {
            let time = ManualLoadClock()
            let script = HopScript([ScriptedAnswer(body: [Data("x".utf8)], error: code.map { URLError($0) })])
            let handler = LockedValue<RecordingDelegate.Allow?>(nil)
            let delegate = RecordingDelegate(onResponse: { _, allow in handler.set(allow) })
            let session = URLSession(
                SessionCore(.ephemeral, delegate: delegate, queue: nil, isShared: false) { order, _, client in
                    let context = DriverLoad.context(
                        script,
                        DriverLoad.configuration {
                            $0.timeoutIntervalForResource = 10
                            $0.urlCache = nil
                        }, clock: time.clock)
                    return TaskDriver(order, context: context, client: client)
                })
            session.dataTask(with: someURL()).resume()
            await delegate.log.wait(for: "response")
            while time.alarms == 0 || handler.value == nil { await Task.yield() }
            #expect(delegate.log.entries == ["created 1", "response 200"])
            if answers { handler.value?(.allow) } else { time.advance(by: .seconds(10)) }
            await delegate.log.wait(for: "complete")
            time.advance(by: .seconds(10))
            let end = code.map { "complete \($0.rawValue)" } ?? "complete nil"
            #expect(
                delegate.log.entries == ["created 1", "response 200"]
                    + (answers ? ["data x", "metrics", end] : ["metrics", "complete -1001"]))
            while time.alarms > 0 { await Task.yield() }
            session.invalidateAndCancel()
        }
    }

    @Test("[U-5.5, U-7.2] a slow delegate pauses the load, which continues later")
    func backPressure() async {
        let loads = ScriptedLoadSource()
        let handler = LockedValue<RecordingDelegate.Allow?>(nil)
        let delegate = RecordingDelegate(onResponse: { _, allow in handler.set(allow) })
        let session = loads.session(delegate)
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        load.respond()
        await delegate.log.wait(for: "response")
        let piece = String(repeating: "x", count: 65536)
        var demand = Demand.more
        var count = 0
        while case .more = demand, count < 10 {
            demand = load.send(piece)
            count += 1
        }
        #expect(count == 5)
        #expect(!load.calls.contains("resumeReading"))
        handler.value?(.allow)
        await load.waitUntilResumed()
        load.end()
        await delegate.log.wait(for: "complete nil")
        #expect(delegate.log.entries.count { $0.hasPrefix("data") } == 5)
        session.invalidateAndCancel()
    }

    @Test("[U-5.2, U-4.1] calls of one task do not overlap on a concurrent queue")
    func noOverlap() async {
        let loads = ScriptedLoadSource()
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 8
        let inside = LockedValue(0)
        let mostConcurrent = LockedValue(0)
        let delegate = RecordingDelegate(onCall: { _ in
            inside.update { $0 += 1 }
            let now = inside.value
            mostConcurrent.update { $0 = max($0, now) }
            inside.update { $0 -= 1 }
        })
        let session = loads.session(delegate, queue: operations)
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        load.respond()
        for index in 0..<500 {
            load.send("\(index)")
            // At most this many pieces may wait without being merged (T-7).
            if index % 50 == 49 { await delegate.log.wait(for: "data \(index)") }
        }
        load.end()
        await delegate.log.wait(for: "complete")
        #expect(mostConcurrent.value == 1)
        #expect(delegate.log.entries.filter { $0.hasPrefix("data") } == (0..<500).map { "data \($0)" })
        session.invalidateAndCancel()
    }

    @Test("[T-1] resume, suspend, cancel, creation and invalidation call nothing before they return")
    func nothingInside() async {
        let loads = ScriptedLoadSource { $0.answer("hello") }
        // A call on this thread before the last of these methods has returned is a call inside one of them.
        let isInside = LockedValue(false)
        let wasInside = LockedValue(false)
        let thread = LockedValue<pthread_t?>(nil)
        let delegate = RecordingDelegate(onCall: { _ in
            if isInside.value, thread.value == pthread_self() { wasInside.set(true) }
        })
        let session = loads.session(delegate)
        thread.set(pthread_self())
        isInside.set(true)
        let task = session.dataTask(with: someURL())
        task.resume()
        task.suspend()
        task.cancel()
        session.invalidateAndCancel()
        isInside.set(false)
        await delegate.log.wait(for: "invalid")
        #expect(!wasInside.value)
    }

    @Test(
        "[T-1, U-6.4] the same for a response in memory; a task resumed on the delegate queue is called after the current job"
    )
    func nothingInsideOutOfMemory() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let isInside = LockedValue(false)
        let wasInside = LockedValue(0)
        let delegate = RecordingDelegate(onCall: { _ in if isInside.value { wasInside.update { $0 += 1 } } })
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let request = URLRequest(url: someURL())
        let response = try #require(
            HTTPURLResponse(
                url: someURL(), statusCode: 200, httpVersion: nil,
                headerFields: ["Cache-Control": "max-age=1000"]))
        cache.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("hello".utf8)), for: request)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = cache
        configuration.requestCachePolicy = .returnCacheDataDontLoad
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        for endsHeld in [false, true] {
            queue.addOperation {
                isInside.set(true)
                let task = session.dataTask(with: request)
                task.resume()
                task.suspend()
                if !endsHeld { task.resume() }
                isInside.set(false)
            }
            // The response was queued before `resume` returned, so `suspend` does not hold it back (U-6.4).
            await delegate.log.wait(for: "complete", count: endsHeld ? 2 : 1)
        }
        #expect(wasInside.value == 0)
        #expect(delegate.log.entries.filter { $0 == "data hello" }.count == 2, "\(delegate.log.entries)")
        session.invalidateAndCancel()
    }

    @Test("[U-7.7] sent bytes are reported as rising totals, and from 0 when the body is sent again")
    func sent() async {
        let loads = ScriptedLoadSource()
        let delegate = RecordingDelegate()
        let session = loads.session(delegate)
        session.uploadTask(with: URLRequest(url: someURL()), from: Data(count: 10)).resume()
        let load = await loads.load()
        for (index, total) in [4, 10, 3, 10].enumerated() {
            load.client.driverSent(total: Int64(total), expected: 10)
            await delegate.log.wait(for: "sent", count: index + 1)
        }
        load.answer("")
        await delegate.log.wait(for: "complete")
        #expect(
            delegate.log.entries.filter { $0.hasPrefix("sent") } == [
                "sent 4 4/10", "sent 6 10/10", "sent 3 3/10", "sent 7 10/10",
            ])
        session.invalidateAndCancel()
    }

    @Test("[U-5.11] methods that a delegate does not implement behave as without a delegate")
    func defaults() async throws {
        final class DelegateWithoutMethods: NSObject, URLSessionDataDelegate {}
        let loads = ScriptedLoadSource()
        let session = loads.session(DelegateWithoutMethods())
        session.dataTask(with: someURL()).resume()
        let load = await loads.load()
        let response = try #require(
            HTTPURLResponse(url: load.url, statusCode: 302, httpVersion: nil, headerFields: nil))
        let target = URLRequest(url: someURL("/there"))
        let followed = await withCheckedContinuation { continuation in
            load.client.driverWillRedirect(response, to: target) { continuation.resume(returning: $0) }
        }
        #expect(followed?.url == target.url)
        let stream = await withCheckedContinuation { continuation in
            load.client.driverNeedsBodyStream { continuation.resume(returning: $0 == nil) }
        }
        #expect(stream)
        let proposal = CachedURLResponse(response: response, data: Data(count: 3))
        let stored = await withCheckedContinuation { continuation in
            load.client.driverWillCache(proposal) { continuation.resume(returning: $0 === proposal) }
        }
        #expect(stored)
        session.invalidateAndCancel()
    }
}
