// SPDX-License-Identifier: MIT

internal import CLupineLinux

/// What epoll reported of one descriptor.
package struct Readiness: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    /// A set from epoll's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Bytes, a connection, or the end wait to be read.
    package static let readable = Readiness(rawValue: 0x001)
    /// There is room to write, or a connect has ended.
    package static let writable = Readiness(rawValue: 0x004)
    /// An error waits (EPOLLERR).
    package static let failed = Readiness(rawValue: 0x008)
    /// Both halves are closed (EPOLLHUP).
    package static let hungUp = Readiness(rawValue: 0x010)
    /// The peer has closed its half (EPOLLRDHUP); bytes may still wait.
    package static let peerClosed = Readiness(rawValue: 0x2000)
    /// Any of the three ways in which a connection ends.
    package static let closed: Readiness = [.failed, .hungUp, .peerClosed]
}

/// Epoll, edge-triggered: tells what has changed, once per change.
///
/// With every descriptor goes a token of the caller's, slot and use in one number, that comes back with its
/// events; an event that outlived its registration carries an old use and is dropped by `LoopCore`. One
/// thread: the loop's; only `WakeUp` may be rung from others.
@safe final class Poller {
    /// The token under which the wake-up's events would come; they never leave `wait`.
    private static let wakeToken = UInt64.max

    private let epoll: Descriptor
    private let wakeUp: WakeUp
    private var events: [epoll_event]
    private var ready = 0

    /// Opens epoll and listens to `wakeUp`. `capacity` events at most come from one wait.
    static func listening(to wakeUp: WakeUp, capacity: Int = 256) throws(Errno) -> Poller {
        let poller = Poller(
            epoll: Descriptor(adopting: try Syscalls.epollCreate()), wakeUp: wakeUp, capacity: capacity)
        // Edge-triggered: each ring is a new edge, so that the counter need never be read.
        try poller.control(EPOLL_CTL_ADD, wakeUp.descriptor.rawValue, [.readable], wakeToken)
        return poller
    }

    private init(epoll: consuming Descriptor, wakeUp: WakeUp, capacity: Int) {
        self.epoll = epoll
        self.wakeUp = wakeUp
        unsafe events = Array(repeating: epoll_event(), count: capacity)
    }

    /// Begins to watch. Both directions and all ways to end are watched for life: no call per request.
    func add(_ descriptor: Int32, token: UInt64) throws(Errno) {
        try control(EPOLL_CTL_ADD, descriptor, [.readable, .writable, .peerClosed], token)
    }

    /// Stops watching a descriptor that stays open. (One that closes is forgotten by the kernel.)
    func remove(_ descriptor: Int32) throws(Errno) {
        try unsafe Syscalls.epollControl(epoll.rawValue, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Waits until something happens or `timeout` milliseconds have passed (-1: for ever), and says how
    /// many events there are; a wake-up alone counts as none.
    func wait(timeout: Int32) throws(Errno) -> Int {
        let number = epoll.rawValue
        ready = try unsafe events.withUnsafeMutableBufferPointer { buffer throws(Errno) in
            try unsafe Syscalls.epollWait(number, buffer, timeout: timeout)
        }
        return ready
    }

    /// An event of the last wait; nil for the wake-up.
    func event(at index: Int) -> (token: UInt64, readiness: Readiness)? {
        precondition(index < ready, "no such event")
        let event = unsafe events[index]
        let token = unsafe event.data.u64
        return token == Self.wakeToken ? nil : (token, Readiness(rawValue: unsafe event.events))
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, _ token: UInt64
    ) throws(Errno) {
        var event = unsafe epoll_event()
        unsafe event.events = interest.rawValue | lupine_epoll_edge
        unsafe event.data.u64 = token
        try unsafe Syscalls.epollControl(epoll.rawValue, operation, descriptor, &event)
    }
}
