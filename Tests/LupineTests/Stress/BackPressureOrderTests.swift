// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineOrigin
import LupineTestKit
import Testing

@testable import Lupine

/// A model of blocked consumers and back-pressure, checked against many long transfers at once.
///
/// Each worker has a few transfers of long content. At random it holds their consumers and releases them, suspends, resumes and
/// cancels the transfers, and blocks the root queue in a validator. Meanwhile other requests of the session are answered: while
/// a consumer is blocked, the origin stops sending to it, and to no other. `LUPINE_ORDER_STEPS` sets how many such steps are
/// taken, and `LUPINE_ORDER_SEED` repeats the steps of an earlier run.
@Suite(.serialized, .timeLimit(.minutes(60))) struct BackPressureOrderTests {
    /// A part of the steps: a test of many steps runs as several, each with its session and origin.
    struct Run: CustomTestStringConvertible, Sendable {
        static let maximumSteps = 10_000

        let testedHTTP: TestedHTTP
        let number: Int
        let steps: Int

        var testDescription: String { "\(testedHTTP.testDescription), run \(number) of \(steps) steps" }

        /// The seed of `LUPINE_ORDER_SEED`; a new one without it.
        var seed: UInt64 {
            ProcessInfo.processInfo.environment["LUPINE_ORDER_SEED"].flatMap { UInt64($0) }
                ?? UInt64.random(in: 0...9_999_999)
        }

        static var all: [Run] {
            let steps = OrderFaults.steps(6_000)
            let count = max(1, steps / (TestedHTTP.allCases.count * maximumSteps))
            return (1...count).flatMap { number in
                TestedHTTP.allCases.map {
                    Run(
                        testedHTTP: $0, number: number, steps: steps / (TestedHTTP.allCases.count * count))
                }
            }
        }
    }

    private static let workers = 4
    /// The maximum number of transfers of a worker at one time.
    private static let transfers = 3
    /// The number of steps after which a worker finishes its transfers.
    private static let roundSteps = 30

    /// Takes steps at random, one after the other.
    private struct Worker {
        let stage: BackPressureStage
        let left: Protected<Int>
        var random: SeededRandom
        private var transfers: [HeldTransfer] = []

        init(_ stage: BackPressureStage, _ left: Protected<Int>, seed: UInt64) {
            self.stage = stage
            self.left = left
            random = SeededRandom(seed: seed)
        }

        mutating func run() async {
            while left.read({ $0 }) > 0 {
                for _ in 0..<BackPressureOrderTests.roundSteps { await step() }
                for transfer in transfers {
                    transfer.checkBounds()
                    await transfer.finish()
                    transfer.checkEnd()
                    stage.contents.remove(transfer.content)
                }
                transfers = []
            }
        }

        private mutating func step() async {
            left.write { $0 -= 1 }
            let chance = Int.random(in: 0..<40, using: &random)
            guard let transfer = transfers.randomElement(using: &random), chance >= 8 else {
                return transfers.count < BackPressureOrderTests.transfers ? await start() : await get()
            }
            transfer.checkBounds()
            switch chance {
            case 8...13: if transfer.canBeHeld { await transfer.hold() }
            case 14...16: transfer.release()
            case 17...18: if !transfer.isSuspended { transfer.suspend() }
            case 19...20: if transfer.isSuspended { transfer.resume() }
            case 21: transfer.cancel()
            case 22: await blockRoot()
            case 23...28: await awaitStall(of: transfer)
            default: await get()
            }
        }

        private mutating func start() async {
            let kinds = HeldTransfer.Kind.allCases
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            let maximumCount = LongContents.maximumCount
            let count = Int.random(in: maximumCount / 2...maximumCount, using: &random)
            let content = stage.contents.add(count: count)
            let isHeld = Bool.random(using: &random)
            transfers.append(await HeldTransfer.start(kind, content, isHeld: isHeld, stage))
        }

        /// Sends another request of the session, which must be answered whatever consumers are blocked.
        private mutating func get() async {
            left.write { $0 -= 1 }
            let blocked = transfers.filter(\.isBlocked)
            let count = Int.random(in: 0..<8, using: &random) == 0 ? 100_000 : 100
            let task = stage.session.request(stage.url("/bytes/\(count)")).serializingData()
            let response = await task.response
            if response.data?.count != count { stage.faults.note("\(response)") }
            if !blocked.allSatisfy({ $0.isBlocked || $0.isCancelled }) {
                stage.faults.note("a consumer went on")
            }
            stage.tally.write { tally in
                tally.answered += 1
                if !blocked.isEmpty { tally.answeredWhileBlocked += 1 }
            }
            for transfer in transfers {
                transfer.checkSuspension()
                transfer.checkBounds()
            }
        }

        /// Blocks the root queue in a validator. Requests that call no code of the program's are answered meanwhile (S-29).
        private mutating func blockRoot() async {
            let entered = Gate()
            let released = DispatchSemaphore(value: 0)
            let faults = stage.faults
            let request = stage.session.request(stage.url("/bytes/1000")).validate { _, _, _ in
                faults.checkThread("validator")
                entered.open()
                released.wait()
                return .success(())
            }
            async let response = request.serializingData().response
            await entered.wait()
            for _ in 0..<Int.random(in: 1...3, using: &random) { await get() }
            released.signal()
            if await response.data?.count != 1_000 { faults.note("\(await response)") }
        }

        /// Waits until the origin has stopped sending to a transfer that is held or suspended, which is when other requests are
        /// answered and it sends nothing in between.
        private mutating func awaitStall(of transfer: HeldTransfer) async {
            guard transfer.isBlocked || transfer.isSuspended else { return await get() }
            var sent: Int
            repeat {
                sent = transfer.content.sent
                for _ in 0..<2 { await get() }
            } while transfer.content.sent != sent
            if sent < transfer.content.count, !transfer.isCancelled { stage.tally.write { $0.stalls += 1 } }
        }
    }

    @Test(
        "[U-5.5, U-6.4, U-7.2, DS-2, DS-6, C-41, O-7, R-41, H-6.13] a blocked consumer stops its origin only",
        arguments: Run.all)
    func model(_ run: Run) async throws {
        let seed = run.seed
        try await withBackPressure(over: run.testedHTTP) { stage async throws in
            let left = Protected(run.steps)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.workers {
                    group.addTask {
                        var worker = Worker(stage, left, seed: seed &+ UInt64(number))
                        await worker.run()
                    }
                }
            }
            await stage.session.settle()
            let kept = stage.session.mutableState.read { $0.activeRequests.count + $0.requestTaskMap.count }
            #expect(kept == 0, "seed \(seed)")
            #expect(stage.faults.all == [], "seed \(seed)")
            #expect(stage.faults.handlers.read { $0.called == $0.added }, "seed \(seed)")
            let tally = stage.tally.read { $0 }
            #expect(tally.answeredWhileBlocked > 0 && tally.stalls > 0, "seed \(seed)")
        }
    }
}
