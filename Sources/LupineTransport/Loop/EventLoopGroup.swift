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
    /// The threads on which the program's code that may block is called.
    let callouts: CalloutThreads
    private let sharing: Sharing
    /// Counts the calls of `next()`, for round-robin.
    private let nextCount = Atomic<Int>(0)
    /// Counts the calls of `nextExecutor()`, for round-robin.
    private let nextExecutorCount = Atomic<Int>(0)

    /// How connections are distributed among loops.
    package enum Sharing: Sendable {
        /// Evenly: to the least loaded loop, round-robin among equals.
        case even
        /// To the first loop that is not busy and has fewer connections than `packedConnections`; evenly if there is none. One
        /// loop that handles several events in each turn is cheaper than several loops that wake up for one event each. For small
        /// requests, four loops take 1.5 times the processor time of one loop with all connections.
        case packed
    }

    /// The number of connections that one loop gets before a group with packed sharing uses the next loop.
    package static let packedConnections = 256

    /// The default limit of threads, and so of concurrent calls, for the program's blocking code in a group.
    package static let calloutLimit = 8

    /// Starts `count` loops, whose threads are called `name` and a number. At most `callouts` further threads, called `name` and
    /// `ask`, are started when code of the program that may block has to be called.
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
            // The callout threads need no end: none is started before the first callout.
            for loop in started { loop.shutdownAndWait() }
            throw error
        }
        loops = started
        self.callouts = callouts
        self.sharing = sharing
        self.clock = clock
    }

    private static let defaultGroup = Lock<EventLoopGroup?>(nil)

    /// Returns the group of all clients without a group of their own, and creates it at the first call. It has as many loops as
    /// the process may use processors, at most four, and distributes connections as `Sharing.packed` says.
    package static func shared() throws(Errno) -> EventLoopGroup {
        try defaultGroup.withLock { group throws(Errno) in
            if let group { return group }
            let newGroup = try EventLoopGroup(
                count: min(NativeThread.usableCores, 4), sharing: .packed)
            group = newGroup
            return newGroup
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
        // `add` returns the old and the new value. As an unsigned number, the counter gives a valid index after an overflow too.
        let (count, _) = nextCount.add(1, ordering: .relaxed)
        var leastLoaded = loops[Int(UInt(bitPattern: count) % UInt(loops.count))]
        for loop in loops where loop.load < leastLoaded.load { leastLoaded = loop }
        return leastLoaded
    }

    /// Returns the loop for the next task executor: round-robin, whatever the loops carry at present. The executor's tasks will
    /// open their connections on that loop, so these are distributed evenly too.
    package func nextExecutor() -> EventLoop {
        // The index is computed as in `next()`.
        let (count, _) = nextExecutorCount.add(1, ordering: .relaxed)
        return loops[Int(UInt(bitPattern: count) % UInt(loops.count))]
    }

    /// Has `listener` called at the end of the present turn of a loop that is awake; returns false if all loops sleep.
    package func notifyAtTurnEnd(_ listener: any TurnEndListener & Sendable) -> Bool {
        for loop in loops where loop.notifyAtTurnEndIfAwake(listener) { return true }
        return false
    }

    /// Whether the loop belongs to this group.
    func contains(_ loop: EventLoop) -> Bool {
        loop.number < loops.count && loops[loop.number] === loop
    }

    /// Shuts all loops down; returns when their threads and the callout threads are gone, and so after all calls of the program's
    /// code have returned. Never called for the default group.
    package func shutdown() async {
        for loop in loops { loop.beginShutdown() }
        for loop in loops { await loop.shutdown() }
        await callouts.shutdown()
    }

    /// Like `shutdown()`, but blocks. Must not be called on a loop.
    package func shutdownAndWait() {
        for loop in loops { loop.beginShutdown() }
        for loop in loops { loop.shutdownAndWait() }
        callouts.shutdownAndWait()
    }
}
