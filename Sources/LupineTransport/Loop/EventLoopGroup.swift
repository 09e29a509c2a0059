// SPDX-License-Identifier: MIT

internal import Synchronization

/// A fixed set of loops that distributes connections.
///
/// The process has one default group, started on first use and never ended: it does not delay the exit of the program. A client
/// with its own group ends it in its shutdown, which joins the threads. Any thread may call.
package final class EventLoopGroup: Sendable {
    /// The loops, in their order.
    package let loops: [EventLoop]
    /// The clock of the loops.
    let clock: any TransportClock
    /// The threads for the program's code that may block.
    let callouts: CalloutThreads
    private let sharing: Sharing
    private let turn = Atomic<Int>(0)
    private let executorTurn = Atomic<Int>(0)

    /// How connections are distributed among loops.
    package enum Sharing: Sendable {
        /// Evenly: to the least loaded loop, round-robin among equals.
        case even
        /// To the first loop that is not busy and has fewer than `packedConnections`; evenly if there is none. One loop with
        /// several things to do in each turn is cheaper than several loops that wake up for one each: for small requests, four
        /// loops cost half as much again as one that has all connections.
        case packed
    }

    /// The number of connections up to which a loop is filled in packed sharing.
    package static let packedConnections = 256

    /// The default maximum of concurrent calls of the program's blocking code by the loops of a group.
    package static let calloutLimit = 8

    /// Starts `count` loops, whose threads are called `name` and a number. At most `callouts` further threads, called `name` and
    /// `ask`, are started when the program's blocking code is to be called.
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

    /// Returns the group of all clients without their own: as many loops as usable processors, at most four. Packed.
    package static func shared() throws(Errno) -> EventLoopGroup {
        try defaultGroup.withLock { group throws(Errno) in
            if let group { return group }
            let started = try EventLoopGroup(
                count: min(NativeThread.usableCores, 4), sharing: .packed)
            group = started
            return started
        }
    }

    /// Returns the loop for the next connection.
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

    /// Returns the loop for the next user of a task executor: round-robin, regardless of connections, because the connections of
    /// its tasks follow to that loop.
    package func nextExecutor() -> EventLoop {
        let (start, _) = executorTurn.add(1, ordering: .relaxed)
        return loops[Int(UInt(bitPattern: start) % UInt(loops.count))]
    }

    /// Whether the loop belongs to this group.
    func contains(_ loop: EventLoop) -> Bool {
        loop.number < loops.count && loops[loop.number] === loop
    }

    /// Ends all loops and returns when their threads and the callout threads are gone; it waits for calls of the program's code
    /// that have not returned. Never called for the default group.
    package func shutdown() async {
        for loop in loops { loop.beginShutdown() }
        for loop in loops { await loop.shutdown() }
        await callouts.shutdown()
    }

    /// Like `shutdown()`, but blocking; not to be called on a loop.
    package func shutdownAndWait() {
        for loop in loops { loop.beginShutdown() }
        for loop in loops { loop.shutdownAndWait() }
        callouts.shutdownAndWait()
    }
}
