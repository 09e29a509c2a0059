// SPDX-License-Identifier: MIT

internal import Synchronization

/// A fixed set of loops that shares out connections.
///
/// The process has one default group, started when it is first asked for and never ended: it does not delay
/// the exit of the program. A client that is given its own group ends it with its shutdown, which joins the
/// threads. Any thread.
package final class EventLoopGroup: Sendable {
    /// The loops, in their order.
    package let loops: [EventLoop]
    /// What the loops take the time from.
    let clock: any TransportClock
    /// For code of the program's that may block.
    let callouts: CalloutThreads
    private let sharing: Sharing
    private let turn = Atomic<Int>(0)
    private let executorTurn = Atomic<Int>(0)

    /// How connections are shared out among loops.
    package enum Sharing: Sendable {
        /// Evenly: to the least loaded loop, in turn among equals.
        case even
        /// To the first loop that is not busy and has fewer than `packedConnections`; evenly when there is none. A loop that
        /// has several things to do at each turn does them for less than several loops that wake up for each: four loops cost
        /// half as much again for small requests as one that has them all.
        case packed
    }

    /// The most connections of a loop that is still the first choice.
    package static let packedConnections = 256

    /// The most calls of the program's code that the loops of a group make at the same time, unless it is told otherwise.
    package static let calloutLimit = 8

    /// Starts `count` loops, whose threads are called `name` and a number. At most `callouts` threads more, called `name` and
    /// `ask`, are started when code of the program's is to be called.
    package init(
        count: Int, name: String = "lupine-loop", sharing: Sharing = .even,
        clock: any TransportClock = MonotonicClock(), callouts limit: Int = EventLoopGroup.calloutLimit
    ) throws(Errno) {
        precondition(count > 0, "a group has at least one loop")
        var started: [EventLoop] = []
        let callouts = CalloutThreads(limit: limit, name: "\(name)-ask")
        do {
            for index in 0..<count {
                started.append(
                    try EventLoop.start(
                        name: "\(name)-\(index)", number: index, clock: clock, callouts: callouts))
            }
        } catch {
            for loop in started { loop.shutdownAndWait() }
            throw error
        }
        loops = started
        self.callouts = callouts
        self.sharing = sharing
        self.clock = clock
    }

    private static let defaultGroup = Lock<EventLoopGroup?>(nil)

    /// The group that everybody shares who brings none: as many loops as usable processors, four at most. Packed.
    package static func shared() throws(Errno) -> EventLoopGroup {
        try defaultGroup.withLock { group throws(Errno) in
            if let group { return group }
            let started = try EventLoopGroup(
                count: min(NativeThread.usableCores, 4), sharing: .packed)
            group = started
            return started
        }
    }

    /// The loop for the next connection.
    package func next() -> EventLoop {
        if sharing == .packed {
            let now = clock.now()
            for loop in loops where loop.load < Self.packedConnections && !loop.isBusy(at: now) {
                return loop
            }
        }
        let (start, _) = turn.add(1, ordering: .relaxed)
        var best = loops[Int(UInt(bitPattern: start) % UInt(loops.count))]
        for loop in loops where loop.load < best.load { best = loop }
        return best
    }

    /// The loop for the next who wants to run tasks on one: each in turn, whatever connections it has. Who runs tasks there
    /// brings their connections along.
    package func nextExecutor() -> EventLoop {
        let (start, _) = executorTurn.add(1, ordering: .relaxed)
        return loops[Int(UInt(bitPattern: start) % UInt(loops.count))]
    }

    /// Whether the loop is one of these.
    func contains(_ loop: EventLoop) -> Bool {
        loop.number < loops.count && loops[loop.number] === loop
    }

    /// Ends all loops and returns when their threads are gone, and those on which code of the program's was called: it waits for
    /// calls that have not returned. Never for the default group.
    package func shutdown() async {
        for loop in loops { loop.beginShutdown() }
        for loop in loops { await loop.shutdown() }
        await callouts.shutdown()
    }

    /// The same, blocking; not on a loop.
    package func shutdownAndWait() {
        for loop in loops { loop.beginShutdown() }
        for loop in loops { loop.shutdownAndWait() }
        callouts.shutdownAndWait()
    }
}
