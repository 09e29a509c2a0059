// SPDX-License-Identifier: MIT

internal import CLupineLinux

/// The events that epoll reported for one descriptor.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    /// A set of epoll's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes, a connection, or the end of the stream can be read (EPOLLIN).
    package static let readable = Readiness(rawValue: 0x001)
    /// The socket can be written, or a connect has ended (EPOLLOUT).
    package static let writable = Readiness(rawValue: 0x004)
    /// The socket has a pending error (EPOLLERR).
    package static let failed = Readiness(rawValue: 0x008)
    /// Both halves of the connection are closed (EPOLLHUP).
    package static let hungUp = Readiness(rawValue: 0x010)
    /// The peer has closed its sending half (EPOLLRDHUP); there may still be bytes to read.
    package static let peerClosed = Readiness(rawValue: 0x2000)
    /// Any of the three events for the end of a connection.
    package static let closed: Readiness = [.failed, .hungUp, .peerClosed]
}

/// Waits for descriptors with epoll, edge-triggered: each change is reported once.
///
/// The caller gives each descriptor a token, which epoll returns with the descriptor's events: the slot and generation of the
/// registration in one number. `LoopCore` drops an event with an old generation, because the registration has ended. Used on the
/// loop's thread only; other threads may signal the `WakeUp`.
@safe final class Poller {
    /// The token of the wake-up, for which `event(at:)` returns nil.
    private static let wakeToken = UInt64.max

    /// The descriptor of the epoll instance.
    private let epoll: Descriptor
    /// Retained, so that its descriptor stays open as long as epoll watches it.
    private let wakeUp: WakeUp
    /// The buffer for the events of one wait.
    private var events: [epoll_event]
    /// The number of events of the last wait.
    private var eventCount = 0

    /// Opens epoll and adds `wakeUp`. One wait returns at most `capacity` events.
    static func listening(to wakeUp: WakeUp, capacity: Int = 256) throws(Errno) -> Poller {
        let poller = Poller(
            epoll: Descriptor(adopting: try Syscalls.epollCreate()), wakeUp: wakeUp, capacity: capacity)
        // Edge-triggered: each write to the eventfd is a new event, so that nobody need ever read its counter.
        try poller.control(EPOLL_CTL_ADD, wakeUp.descriptor.rawValue, [.readable], wakeToken)
        return poller
    }

    private init(epoll: consuming Descriptor, wakeUp: WakeUp, capacity: Int) {
        self.epoll = epoll
        self.wakeUp = wakeUp
        unsafe events = Array(repeating: epoll_event(), count: capacity)
    }

    /// Starts to watch a descriptor for reading, writing and closing, until it is removed. So no request needs a system call to
    /// change what is watched.
    func add(_ descriptor: Int32, token: UInt64) throws(Errno) {
        try control(EPOLL_CTL_ADD, descriptor, [.readable, .writable, .peerClosed], token)
    }

    /// Stops watching a descriptor that stays open. (The kernel forgets one that is closed.)
    func remove(_ descriptor: Int32) throws(Errno) {
        try unsafe Syscalls.epollControl(epoll.rawValue, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Waits until there are events or `timeout` milliseconds have passed (-1: for ever), and returns the number of events,
    /// including the wake-up's.
    func wait(timeout: Int32) throws(Errno) -> Int {
        let epollDescriptor = epoll.rawValue
        eventCount = try unsafe events.withUnsafeMutableBufferPointer { buffer throws(Errno) in
            try unsafe Syscalls.epollWait(epollDescriptor, buffer, timeout: timeout)
        }
        return eventCount
    }

    /// Returns an event of the last wait; nil for the wake-up.
    func event(at index: Int) -> (token: UInt64, readiness: Readiness)? {
        precondition(index < eventCount, "no such event")
        let event = unsafe events[index]
        let token = unsafe event.data.u64
        return token == Self.wakeToken ? nil : (token, Readiness(rawValue: unsafe event.events))
    }

    /// Calls `epoll_ctl` for a descriptor, edge-triggered (EPOLLET).
    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, _ token: UInt64
    ) throws(Errno) {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue | lupine_epoll_edge
        unsafe event.data.u64 = token
        try unsafe Syscalls.epollControl(epoll.rawValue, operation, descriptor, &event)
    }
}
