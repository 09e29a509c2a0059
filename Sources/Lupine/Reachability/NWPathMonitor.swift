// SPDX-License-Identifier: MIT

public import Dispatch
internal import LupineLoading

/// Tells how the machine is connected, once it is started, and whenever that changes: by the kernel's routes.
///
/// Any thread may call. A monitor that was cancelled, or is released, tells nothing any more, and cannot be started again.
public final class NWPathMonitor: Sendable {
    private let watch: PathWatch

    /// A monitor of all ways.
    public convenience init() { self.init(view: .system) { _ in true } }

    /// A monitor of the ways over interfaces of one type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(view: .system) { $0 == requiredInterfaceType }
    }

    /// A monitor of the ways over interfaces of all types but these.
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

    /// What is called, on the queue, with each path. It should be set before the start.
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { watch.handler }
        set { watch.handler = newValue }
    }

    /// Where it is called; nil before the start.
    public var queue: DispatchQueue? { watch.queue }

    /// The path that was told last; unsatisfied before there was one.
    public var currentPath: NWPath { watch.currentPath }

    /// Begins to tell, on this queue: soon, and then whenever status, interfaces or families differ. A second start does
    /// nothing.
    public func start(queue: DispatchQueue) { watch.start(queue) }

    /// Tells nothing any more: on the queue, nothing comes behind this call.
    public func cancel() { watch.cancel() }
}

/// What a monitor does. Whoever looks at the network may be the last to have it, on any thread: the handler, which is the
/// program's, goes with the monitor.
private final class PathWatch: Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var last: NWPath?
        var isCancelled = false
        var end: NetworkView.End?
        var isDue = false
        /// Counts the looks, and which of them was told last: their answers may overtake each other.
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
            // What stood there goes away outside of the lock: what it held may look in here.
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
        view.look { [weak self] picture in
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
