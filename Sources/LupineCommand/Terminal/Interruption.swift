// SPDX-License-Identifier: MIT

/// The user's request to stop (Ctrl-C). Each listener is called once. Any thread may use it.
public final class Interruption: Sendable {
    private struct State {
        var hasCome = false
        var listeners: [Int: @Sendable () -> Void] = [:]
        /// Called before the process exits at once.
        var duties: [Int: @Sendable () -> Void] = [:]
        var next = 0
    }

    private let state = Guarded(State())

    /// Creates an interruption that has not come yet.
    public init() {}

    /// Records the interruption and calls the listeners. Returns whether there were any.
    @discardableResult
    public func interrupt() -> Bool {
        let listeners = state.withLock { state in
            state.hasCome = true
            defer { state.listeners = [:] }
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener() }
        return !listeners.isEmpty
    }

    /// Whether the user has interrupted.
    public var hasCome: Bool { state.withLock { $0.hasCome } }

    /// Registers a listener that is called once; if the interruption has come already, calls it at once. Returns the number for
    /// `forget`.
    @discardableResult
    public func listen(_ listener: @escaping @Sendable () -> Void) -> Int? {
        let number = state.withLock { state -> Int? in
            if state.hasCome { return nil }
            state.next += 1
            state.listeners[state.next] = listener
            return state.next
        }
        if number == nil { listener() }
        return number
    }

    /// Registers a cleanup that runs before the process exits without waiting for its work. Returns the number for `forget`.
    func beforeLeaving(_ duty: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.duties[state.next] = duty
            return state.next
        }
    }

    /// Runs the cleanups, before the process exits at once.
    public func leave() {
        let duties = state.withLock { state in
            defer { state.duties = [:] }
            return state.duties.sorted { $0.key < $1.key }.map(\.value)
        }
        for duty in duties { duty() }
    }

    /// Waits that many seconds, or until the interruption.
    func pause(_ seconds: Double) async {
        let listener = listen {}
        defer { forget(listener) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        while clock.now < end, !hasCome {
            try? await Task.sleep(for: min(.milliseconds(50), end - clock.now))
        }
    }

    /// Removes a listener or a cleanup.
    public func forget(_ number: Int?) {
        guard let number else { return }
        state.withLock { state in
            state.listeners[number] = nil
            state.duties[number] = nil
        }
    }
}
