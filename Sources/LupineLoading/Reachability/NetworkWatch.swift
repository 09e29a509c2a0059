// SPDX-License-Identifier: MIT

internal import LupineTransport

/// Reports changes of the network, after which a load that waits for connectivity tries again (U-14.7).
struct NetworkWatch: Sendable {
    /// Ends a watch. Once this has returned, and a callback in progress has ended, there are no more callbacks.
    typealias End = @Sendable () -> Void

    /// Starts a watch, and returns the closure that ends it. Calls `onChange`, on any thread, whenever links, addresses or routes
    /// change. The first call comes once the watch is set up. Earlier changes are not reported, so the caller checks the network
    /// at that call.
    let begin: @Sendable (_ onChange: @escaping @Sendable () -> Void) -> End

    /// Receives the kernel's notifications on one of the shared loops of the process.
    static let system = NetworkWatch { onChange in
        // Without a loop the watch reports nothing, and there is nothing to end.
        guard let loop = try? EventLoopGroup.shared().next() else { return {} }
        return on(loop).begin(onChange)
    }

    /// Returns a watch that receives the kernel's notifications on this loop, in the network namespace of its thread.
    static func on(_ loop: EventLoop) -> NetworkWatch {
        NetworkWatch { onChange in
            let watch = LoopWatch(loop)
            watch.open(onChange)
            return { watch.close() }
        }
    }
}

/// A `RouteWatcher` that any thread may open and close.
private final class LoopWatch: Sendable {
    private enum State: Sendable {
        /// No watcher is open: the first one has not been opened yet, or has ended with an error and another one is opened later.
        case notOpen
        /// A watcher is open; only the loop may use it.
        case open(LoopBound<RouteWatcher>)
        /// The watch has ended: no watcher is opened again.
        case closed
    }

    private let loop: EventLoop
    /// Changed on the loop only.
    private let state = Lock(State.notOpen)

    init(_ loop: EventLoop) { self.loop = loop }

    /// Opens the watcher, on the loop.
    func open(_ onChange: @escaping @Sendable () -> Void) {
        // If the loop has ended, `execute` does nothing: the watch then reports nothing.
        _ = loop.execute { self.openOnLoop(onChange) }
    }

    /// Opens a watcher. Called on the loop. After a failure, tries again later.
    private func openOnLoop(_ onChange: @escaping @Sendable () -> Void) {
        if case .closed = state.withLock({ $0 }) { return }
        let watcher = try? RouteWatcher.open(on: loop) { [self] notice in
            switch notice {
            // `lost`: the kernel has dropped some notifications.
            case .event, .lost: onChange()
            case .ended(let error):
                state.withLock { if case .open = $0 { $0 = .notOpen } }
                // Without an error the loop has ended: it would run no job that opens another watcher.
                if error != nil { openLater(onChange) }
            }
        }
        if let watcher {
            let bound = LoopBound(watcher, on: loop)
            state.withLock { $0 = .open(bound) }
        } else {
            openLater(onChange)
        }
        // Calls back even after a failure, so that the caller checks the network at once and does not wait for a notification.
        onChange()
    }

    /// Tries again after a second. The failure may be temporary, such as a lack of file descriptors, and without a watch the load
    /// would wait forever.
    private func openLater(_ onChange: @escaping @Sendable () -> Void) {
        if case .closed = state.withLock({ $0 }) { return }
        _ = loop.schedule(at: loop.now + .seconds(1)) { [self] reason in
            // Otherwise the loop is shutting down.
            if reason == .due { openOnLoop(onChange) }
        }
    }

    /// Closes the watcher, on the loop.
    func close() {
        // If the loop has ended, `execute` does nothing: the watcher has ended with the loop.
        _ = loop.execute { [self] in
            let oldState = state.withLock { state in
                defer { state = .closed }
                return state
            }
            if case .open(let watcher) = oldState { watcher.value.close() }
        }
    }
}
