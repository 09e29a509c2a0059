// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineTestKit
import LupineTransport
import Testing

@testable import LupineLoading

@Suite(.timeLimit(.minutes(10)))
struct DriverTimeTests {
    @Test("[U-14.4] each hop gets the rest of the resource time-out, counted from the first start")
    func remainingTime() async throws {
        let time = ManualLoadClock()
        let script = HopScript([.redirect("/b"), .redirect("/c"), .status(200)])
        let context = DriverLoad.context(
            script, DriverLoad.configuration { $0.timeoutIntervalForResource = 10 }, clock: time.clock)
        var answers = RecordingClient.Answers()
        answers.redirect = { _, proposal in
            time.advance(by: .seconds(4))
            return proposal
        }
        let load = DriverLoad(try DriverLoad.request(), script, context: context, answers)
        time.advance(by: .seconds(100))
        let notes = await load.run()
        #expect(script.hops.map(\.request.wholeTimeout) == [.seconds(10), .seconds(6), .seconds(2)])
        #expect(notes.error == nil && time.alarms == 0)
    }

    @Test("[U-14.4] no time is left for the next hop")
    func nothingLeft() async throws {
        let time = ManualLoadClock()
        let script = HopScript([.redirect("/b"), .status(200)])
        let context = DriverLoad.context(
            script, DriverLoad.configuration { $0.timeoutIntervalForResource = 10 }, clock: time.clock)
        var answers = RecordingClient.Answers()
        answers.redirect = { _, proposal in
            time.advance(by: .seconds(10))
            return proposal
        }
        let notes = await DriverLoad(try DriverLoad.request(), script, context: context, answers).run()
        #expect(notes.error?.code == .timedOut && script.hops.count == 1)
    }

    @Test("[U-14.5] infinite, and seven days by default")
    func limits() async throws {
        for (seconds, expected) in [
            (TimeInterval.infinity, nil), (0, Interval.seconds(604_800)), (-1, .seconds(604_800)),
        ] {
            let script = HopScript([.status(200)])
            let context = DriverLoad.context(
                script, DriverLoad.configuration { $0.timeoutIntervalForResource = seconds },
                clock: ManualLoadClock().clock)
            _ = await DriverLoad(try DriverLoad.request(), script, context: context).run()
            #expect(script.hops.first?.request.wholeTimeout == expected)
        }
        var request = try DriverLoad.request()
        request.timeoutInterval = 3
        let script = HopScript([.redirect("/b"), .status(200)])
        _ = await DriverLoad(request, script).run()
        #expect(script.sent.map(\.explicitTimeoutInterval) == [3, 3], "a redirect inherits the request's")
    }

    @Test("[U-14.4, U-6.4] the resource time-out runs while the load is suspended")
    func held() async throws {
        let time = ManualLoadClock()
        let script = HopScript([.silence])
        let context = DriverLoad.context(
            script, DriverLoad.configuration { $0.timeoutIntervalForResource = 10 }, clock: time.clock)
        let load = DriverLoad(try DriverLoad.request(), script, context: context)
        load.driver.start()
        await script.waitForHops(1)
        #expect(time.alarms == 0, "nobody needs a timer while a hop has one")
        load.driver.setSuspended(true)
        #expect(time.alarms == 1)
        time.advance(by: .seconds(10))
        let notes = await load.ended()
        #expect(notes.error?.code == .timedOut && script.hops.first?.cancelled?.code == .timedOut)
    }

    @Test(
        "[U-14.7] without a network the load waits, reports it once, and tries again when the network changes",
        arguments: [false, true])
    func waiting(callsBackAtOnce: Bool) async throws {
        let network = ManualNetwork()
        let script = HopScript([
            .failure(.notConnectedToInternet), .failure(.notConnectedToInternet),
            .failure(.notConnectedToInternet),
            .status(200),
        ])
        let context = DriverLoad.context(
            script, DriverLoad.configuration { $0.waitsForConnectivity = true },
            network: network.watch(callsBackAtOnce: callsBackAtOnce))
        let load = DriverLoad(try DriverLoad.request(), script, context: context)
        load.driver.start()
        await load.client.wait(for: "waits")
        while load.client.notes.ends == 0 {
            network.change()
            await Task.yield()
        }
        let notes = await load.ended()
        #expect(notes.error == nil && notes.log.filter { $0 == "waits" }.count == 1)
        #expect(notes.log.last == "end" && script.hops.count == 4 && network.watches == 0)
        #expect(notes.metrics?.transactionMetrics.count == 4 && notes.metrics?.redirectCount == 0)
    }

    @Test("[U-14.7] a load does not wait unless it is configured, after a connection, or for other failures")
    func notWaiting() async throws {
        let rows: [(waits: Bool, answers: [ScriptedAnswer])] = [
            (false, [.failure(.notConnectedToInternet)]), (true, [.failure(.cannotConnectToHost)]),
            (true, [.redirect("/b"), .failure(.notConnectedToInternet)]),
        ]
        for row in rows {
            let script = HopScript(row.answers)
            let context = DriverLoad.context(
                script, DriverLoad.configuration { $0.waitsForConnectivity = row.waits },
                network: ManualNetwork().watch())
            let notes = await DriverLoad(try DriverLoad.request(), script, context: context).run()
            #expect(notes.error != nil && !notes.log.contains("waits"))
        }
    }

    @Test("[U-14.7, U-14.4] waiting for a network ends with the resource time-out")
    func waitingTooLong() async throws {
        let (network, time) = (ManualNetwork(), ManualLoadClock())
        let script = HopScript([.failure(.notConnectedToInternet)])
        let context = DriverLoad.context(
            script,
            DriverLoad.configuration {
                $0.waitsForConnectivity = true
                $0.timeoutIntervalForResource = 5
            }, clock: time.clock, network: network.watch())
        let load = DriverLoad(try DriverLoad.request(), script, context: context)
        load.driver.start()
        await load.client.wait(for: "waits")
        while time.alarms == 0 { await Task.yield() }
        time.advance(by: .seconds(5))
        #expect(await load.ended().error?.code == .timedOut)
        while network.watches > 0 { await Task.yield() }
    }

    @Test("[U-14.7] the system's network watch calls back when it is established, and can be ended")
    func systemWatch() async throws {
        await withCheckedContinuation { continuation in
            let once = Lock(true)
            let end = NetworkWatch.system.begin {
                if once.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                }) {
                    continuation.resume()
                }
            }
            // Ends the watch after it is established: both happen on the same loop, in order.
            DispatchQueue.global().async { end() }
        }
    }

    @Test("[U-14.4] the system's alarm fires, and can be cancelled")
    func systemAlarm() async throws {
        let clock = SessionClock.system
        let cancel = clock.alarm(clock.now() + .seconds(3_600)) { Issue.record("an hour has not passed") }
        cancel()
        await withCheckedContinuation { continuation in
            _ = clock.alarm(clock.now()) { continuation.resume() }
        }
    }

    @Test("[U-5.1, U-5.2, U-5.3] in random orders: no overlapping calls, one end, nothing after it")
    func anyOrder() async throws {
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<300 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(seed))
                    let choices: [ScriptedAnswer] = [
                        .status(200, DriverCacheTests.fresh, "body"), .redirect("/\(seed)"),
                        DriverChallengeTests.challenging,
                        .failure(.networkConnectionLost), .status(304),
                        .failure(.notConnectedToInternet), .silence,
                    ]
                    let script = HopScript(
                        (0..<5).map { _ in choices.randomElement(using: &random) ?? .silence } + [
                            .status(200)
                        ])
                    var answers = RecordingClient.Answers()
                    answers.isSlow = Bool.random(using: &random)
                    answers.challenge = { _ in (.useCredential, DriverChallengeTests.user) }
                    if Bool.random(using: &random) { answers.received = { _ in .pause } }
                    let network = ManualNetwork()
                    let context = DriverLoad.context(
                        script, DriverLoad.configuration { $0.waitsForConnectivity = true },
                        network: network.watch())
                    guard let request = try? DriverLoad.request() else { return }
                    let load = DriverLoad(request, script, context: context, answers)
                    let steps = (0..<12).map { _ in Int.random(in: 0..<6, using: &random) }
                    for (index, step) in steps.enumerated() {
                        if index == 2 { load.driver.start() }
                        switch step {
                        case 0: load.driver.setSuspended(Bool.random(using: &random))
                        case 1: load.driver.resumeReading()
                        case 2: load.driver.setPriority(0.1)
                        case 3: network.change()
                        case 4: if index > 6 { load.driver.cancel(URLError(.cancelled)) }
                        default: await Task.yield()
                        }
                    }
                    load.driver.cancel(URLError(.cancelled))
                    let notes = await load.ended()
                    #expect(notes.ends == 1 && notes.log.last == "end", "seed \(seed)")
                    for hop in script.hops {
                        #expect(hop.isOver || !hop.wasStarted, "seed \(seed): a hop is left")
                    }
                }
            }
        }
    }

    @Test("an ended load is released, however it ended")
    func released() async throws {
        let scripts: [[ScriptedAnswer]] = [
            [.status(200)], [.redirect("/b"), .status(200)],
            [DriverChallengeTests.challenging, .status(200)],
            [.failure(.networkConnectionLost)], [.silence],
        ]
        for answers in scripts {
            for cancelled in [false, true]
            where cancelled || answers[0].status != nil || answers[0].error != nil {
                weak var driver: TaskDriver?
                do {
                    let load = DriverLoad(try DriverLoad.request(), HopScript(answers))
                    driver = load.driver
                    load.driver.start()
                    if cancelled { load.driver.cancel(URLError(.cancelled)) }
                    _ = await load.ended()
                }
                // The queue of its last hop may not have released the driver yet.
                while driver != nil { await Task.yield() }
            }
        }
    }
}
