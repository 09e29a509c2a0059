// SPDX-License-Identifier: MIT

public import Dispatch
internal import LupineLoading

/// Reports the network connectivity of the machine when it is started and whenever it changes, based on the kernel's routes.
///
/// May be used from any thread. A monitor that was cancelled or released reports nothing more, and cannot be restarted.
public final class NWPathMonitor: Sendable {
    private let watch: PathWatch

    /// Creates a monitor of all interfaces.
    public convenience init() { self.init(view: .system) { _ in true } }

    /// Creates a monitor of interfaces of one type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(view: .system) { $0 == requiredInterfaceType }
    }

    /// Creates a monitor of interfaces of all types except these.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(view: .system) { !prohibitedInterfaceTypes.contains($0) }
    }

    init(view: NetworkView, allowing isAllowed: @escaping @Sendable (NWInterface.InterfaceType) -> Bool) {
        watch = PathWatch(view, isAllowed)
    }

    deinit {
        watch.cancel()
        pathUpdateHandler = nil
    }

    /// Called on `queue` with each new path. Set it before calling `start(queue:)`, so that it receives the first path.
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { watch.handler }
        set { watch.handler = newValue }
    }

    /// The queue on which the handler is called; nil until `start(queue:)` is called.
    public var queue: DispatchQueue? { watch.queue }

    /// The path that was reported last; before the first one, an unsatisfied path.
    public var currentPath: NWPath { watch.currentPath }

    /// Starts reporting on this queue: first the current path, without waiting for a change, then each path whose status,
    /// interfaces, or support of IPv4 or IPv6 differ from the previous one. A second call has no effect.
    public func start(queue: DispatchQueue) { watch.start(queue) }

    /// Stops reporting. If this is called on the queue, the handler is not called afterwards.
    public func cancel() { watch.cancel() }
}

/// The implementation of a monitor. A pending query may release the last reference to this object, on any thread. The handler may
/// retain objects of the program, which must not be released there; therefore the monitor's `deinit` clears the handler.
private final class PathWatch: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var last: NWPath?
        var isCancelled = false
        /// Ends the subscription to changes; nil before the start and after the cancellation.
        var end: NetworkView.End?
        /// Whether a query is scheduled that covers all changes until then.
        var isDue = false
        /// The number of queries so far, and the number of the latest query whose result was handled: results may arrive out of
        /// order.
        var looks = 0
        var told = 0
    }

    private let view: NetworkView
    private let isAllowed: @Sendable (NWInterface.InterfaceType) -> Bool
    private let state = Protected(State())

    init(_ view: NetworkView, _ isAllowed: @escaping @Sendable (NWInterface.InterfaceType) -> Bool) {
        self.view = view
        self.isAllowed = isAllowed
    }

    var handler: (@Sendable (NWPath) -> Void)? {
        get { state.read { $0.handler } }
        set {
            // The old handler is released outside of the lock, since releasing its captures may run code that uses this monitor.
            var handler = newValue
            state.write { swap(&$0.handler, &handler) }
        }
    }

    var queue: DispatchQueue? { state.read { $0.queue } }

    var currentPath: NWPath { state.read { $0.last } ?? NWPath(nil, allowing: isAllowed) }

    func start(_ queue: DispatchQueue) {
        let starts = state.write { state in
            guard state.queue == nil, !state.isCancelled else { return false }
            state.queue = queue
            return true
        }
        guard starts else { return }
        let end = view.watch { [weak self] in self?.changed() }
        // True if the monitor was cancelled while it subscribed.
        let isLate = state.write { state in
            if state.isCancelled { return true }
            state.end = end
            return false
        }
        if isLate { return end() }
        look()
    }

    func cancel() {
        let end = state.write { state in
            state.isCancelled = true
            defer { state.end = nil }
            return state.end
        }
        end?()
    }

    private func changed() {
        let (queue, isFirst) = state.write { state in
            defer { state.isDue = true }
            return (state.queue, !state.isDue && !state.isCancelled)
        }
        guard let queue, isFirst else { return }
        queue.after(0.05) { [weak self] in
            guard let self else { return }
            state.write { $0.isDue = false }
            look()
        }
    }

    private func look() {
        let number = state.write { state in
            state.looks += 1
            return state.looks
        }
        view.takeSnapshot { [weak self] picture in
            guard let self, let queue else { return }
            let path = NWPath(picture, allowing: isAllowed)
            queue.async { [weak self] in self?.tell(path, number) }
        }
    }

    private func tell(_ path: NWPath, _ number: Int) {
        let handler = state.write { state -> (@Sendable (NWPath) -> Void)? in
            guard !state.isCancelled, number > state.told else { return nil }
            state.told = number
            guard state.last != path else { return nil }
            state.last = path
            return state.handler
        }
        assertNoLockIsHeld()
        handler?(path)
    }
}
