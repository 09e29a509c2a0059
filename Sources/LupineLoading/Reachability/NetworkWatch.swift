// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Tells a load that waits for connectivity when to try again (U-14.7).
struct NetworkWatch: Sendable {
    /// Ends a watch. Once this has returned, and a callback in progress has ended, there are no more callbacks.
    typealias End = @Sendable () -> Void

    /// Starts a watch. Calls `changed`, on any thread, once the watch is set up, so that its caller misses no earlier change, and
    /// then whenever links, addresses or routes change.
    let begin: @Sendable (_ changed: @escaping @Sendable () -> Void) -> End

    /// Receives the kernel's notifications on one of the shared loops of the process.
    static let system = NetworkWatch { changed in
        guard let loop = try? EventLoopGroup.shared().next() else { return {} }
        return on(loop).begin(changed)
    }

    /// Returns a watch that receives the kernel's notifications on this loop, in the network namespace of its thread.
    static func on(_ loop: EventLoop) -> NetworkWatch {
        NetworkWatch { changed in
            let watch = LoopWatch(loop)
            watch.open(changed)
            return { watch.close() }
        }
    }
}

/// A `RouteWatcher` that any thread may open and close.
private final class LoopWatch: Sendable {
    private enum State: Sendable {
        case none
        case open(LoopBound<RouteWatcher>)
        case closed
    }

    private let loop: EventLoop
    /// Changed on the loop only.
    private let state = Lock(State.none)

    init(_ loop: EventLoop) { self.loop = loop }

    func open(_ changed: @escaping @Sendable () -> Void) {
        // If the loop has ended, nothing is reported any more.
        _ = loop.execute { self.openNow(changed) }
    }

    /// Opens a watcher, on the loop; after a failure tries again later.
    private func openNow(_ changed: @escaping @Sendable () -> Void) {
        if case .closed = state.withLock({ $0 }) { return }
        let watcher = try? RouteWatcher.open(on: loop) { [self] notice in
            switch notice {
            case .event, .lost: changed()
            case .ended(let error):
                state.withLock { if case .open = $0 { $0 = .none } }
                // Without an error, the loop has ended, and runs no more jobs.
                if error != nil { openLater(changed) }
            }
        }
        if let watcher {
            let bound = LoopBound(watcher, on: loop)
            state.withLock { $0 = .open(bound) }
        } else {
            openLater(changed)
        }
        // Also after a failure, so that the caller does not wait for a notification to check the network once more.
        changed()
    }

    /// Tries again after a second, since descriptors may have run out for a moment only, and the load that waits needs a watch to
    /// continue.
    private func openLater(_ changed: @escaping @Sendable () -> Void) {
        if case .closed = state.withLock({ $0 }) { return }
        _ = loop.schedule(at: loop.now + .seconds(1)) { [self] reason in
            if reason == .due { openNow(changed) }
        }
    }

    func close() {
        _ = loop.execute { [self] in
            let found = state.withLock { state in
                defer { state = .closed }
                return state
            }
            if case .open(let watcher) = found { watcher.value.close() }
        }
    }
}
