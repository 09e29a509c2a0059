// SPDX-License-Identifier: MIT
import LupineTestKit
import Testing

@testable import LupineTransport

/// Every transition of the race between connection attempts. Addresses are words; the causes of failures are errno values.
struct HappyEyeballsMachineTests {
    typealias Machine = HappyEyeballsMachine<String, Int32>

    static let attemptDelay = Interval.milliseconds(250)
    static let setAttemptTimer = Machine.Action.setTimer(Instant.zero + attemptDelay)

    static func address(_ name: String) -> (family: Machine.Family, address: String) {
        (name.hasPrefix("6") ? .ipv6 : .ipv4, name)
    }
    static func machine(_ names: [String], first: Machine.FirstFamily = .ipv6) -> Machine {
        Machine(addresses: names.map(address), first: first)
    }
    static func attempt(_ number: Int) -> Machine.AttemptID { .init(rawValue: number) }
    static func failure(_ address: String, _ cause: Int32) -> Machine.AddressFailure {
        .init(address: address, cause: cause)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var addresses: [String]
        var steps: [(Machine.Event, [Machine.Action])]
    }

    static let rows = [
        Row(
            testDescription: "no address at all", addresses: [],
            steps: [(.start, [.failed([])]), (.timer, []), (.cancel, [])]),
        Row(
            testDescription: "one address needs no timer", addresses: ["6a"],
            steps: [
                (.start, [.connect(attempt(0), "6a")]), (.connected(attempt(0)), [.won(attempt(0), "6a")]),
                (.failed(attempt(0), 1), []), (.connected(attempt(0)), [.close(attempt(0))]),
            ]),
        Row(
            testDescription: "[U-9.16] the timer starts the other family, which wins",
            addresses: ["6a", "6b", "4a"],
            steps: [
                (.start, [.connect(attempt(0), "6a"), setAttemptTimer]),
                (.timer, [.connect(attempt(1), "4a"), setAttemptTimer]),
                (.connected(attempt(1)), [.cancelTimer, .close(attempt(0)), .won(attempt(1), "4a")]),
                (.connected(attempt(0)), [.close(attempt(0))]),
            ]),
        Row(
            testDescription: "the first attempt may still win after the second has begun",
            addresses: ["6a", "4a"],
            steps: [
                (.start, [.connect(attempt(0), "6a"), setAttemptTimer]),
                (.timer, [.connect(attempt(1), "4a"), .cancelTimer]),
                (.timer, []),
                (.connected(attempt(0)), [.close(attempt(1)), .won(attempt(0), "6a")]),
            ]),
        Row(
            testDescription: "a failed attempt starts the next one, and the last failure ends the race",
            addresses: ["6a", "4a"],
            steps: [
                (.start, [.connect(attempt(0), "6a"), setAttemptTimer]),
                (.failed(attempt(0), 101), [.connect(attempt(1), "4a"), .cancelTimer]),
                (.failed(attempt(0), 101), []),
                (.failed(attempt(1), 111), [.failed([failure("6a", 101), failure("4a", 111)])]),
            ]),
        Row(
            testDescription: "failures are listed in the order in which they happened",
            addresses: ["6a", "4a"],
            steps: [
                (.start, [.connect(attempt(0), "6a"), setAttemptTimer]),
                (.timer, [.connect(attempt(1), "4a"), .cancelTimer]),
                (.failed(attempt(1), 111), []),
                (.connected(attempt(1)), []),
                (.failed(attempt(0), 110), [.failed([failure("4a", 111), failure("6a", 110)])]),
            ]),
        Row(
            testDescription: "cancelled before the start", addresses: ["6a"],
            steps: [(.cancel, []), (.cancel, [])]),
        Row(
            testDescription: "cancelled during the race", addresses: ["6a", "4a", "6b"],
            steps: [
                (.start, [.connect(attempt(0), "6a"), setAttemptTimer]),
                (.timer, [.connect(attempt(1), "4a"), setAttemptTimer]),
                (.cancel, [.cancelTimer, .close(attempt(0)), .close(attempt(1))]),
                (.timer, []), (.failed(attempt(0), 1), []),
            ]),
        Row(
            testDescription: "cancelled when every address is being tried", addresses: ["6a"],
            steps: [(.start, [.connect(attempt(0), "6a")]), (.cancel, [.close(attempt(0))])]),
    ]

    @Test(arguments: rows)
    func transition(_ row: Row) {
        var machine = Self.machine(row.addresses)
        for (event, actions) in row.steps { #expect(machine.handle(event, at: .zero) == actions, "\(event)") }
    }

    struct Order: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var resolved: [String]
        var first: Machine.FirstFamily
        var order: [String]
    }

    @Test(arguments: [
        Order(
            testDescription: "[U-9.16] IPv6 first", resolved: ["4a", "4b", "6a", "6b"], first: .ipv6,
            order: ["6a", "4a", "6b", "4b"]),
        Order(
            testDescription: "IPv4 first", resolved: ["6a", "6b", "4a"], first: .ipv4,
            order: ["4a", "6a", "6b"]),
        Order(
            testDescription: "as resolved", resolved: ["4a", "6a", "6b", "6c"], first: .asResolved,
            order: ["4a", "6a", "6b", "6c"]),
        Order(
            testDescription: "only the other family", resolved: ["4a", "4b"], first: .ipv6,
            order: ["4a", "4b"]),
    ])
    func familiesAlternate(_ row: Order) {
        var machine = Self.machine(row.resolved, first: row.first)
        var order: [String] = []
        var event = Machine.Event.start
        while order.count < row.order.count {
            for case .connect(let attempt, let address) in machine.handle(event, at: .zero) {
                #expect(attempt.rawValue == order.count)
                order.append(address)
            }
            event = .timer
        }
        #expect(order == row.order)
    }

    @Test func randomRacesEndOnceAndCloseEverySocketButTheWinners() {
        var random = SeededRandom(seed: 8305)
        for _ in 0..<3000 {
            let count = Int.random(in: 0...5, using: &random)
            var machine = Self.machine((0..<count).map { "\(Bool.random(using: &random) ? 4 : 6)-\($0)" })
            var attemptsInProgress: Set<Int> = []
            var isTimerSet = false
            var results = 0
            var winner: Int?
            var event = Machine.Event.start
            while true {
                for action in machine.handle(event, at: .zero) {
                    switch action {
                    case .connect(let attempt, _):
                        #expect(attemptsInProgress.insert(attempt.rawValue).inserted)
                    case .close(let attempt): #expect(attemptsInProgress.remove(attempt.rawValue) != nil)
                    case .setTimer: isTimerSet = true
                    case .cancelTimer: isTimerSet = false
                    case .won(let attempt, _):
                        results += 1
                        winner = attempt.rawValue
                    case .failed(let failures):
                        results += 1
                        #expect(failures.count == count && attemptsInProgress.isEmpty)
                    }
                }
                if results > 0 { break }
                #expect(!attemptsInProgress.isEmpty, "a race that has not ended has an attempt in progress")
                let runner = Machine.AttemptID(
                    rawValue: attemptsInProgress.sorted().randomElement(using: &random) ?? 0)
                switch Int.random(in: 0..<4, using: &random) {
                case 0 where isTimerSet:
                    isTimerSet = false
                    event = .timer
                case 1:
                    event = .connected(runner)
                case _:
                    attemptsInProgress.remove(runner.rawValue)
                    event = .failed(runner, 111)
                }
            }
            #expect(results == 1 && attemptsInProgress == Set([winner].compactMap { $0 }) && !isTimerSet)
        }
    }
}
