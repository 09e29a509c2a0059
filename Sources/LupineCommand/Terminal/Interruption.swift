// SPDX-License-Identifier: MIT

/// The user's request to stop (Ctrl-C), of which each listener is notified once. Any thread may use it.
public final class Interruption: Sendable {
    private struct State {
        var hasCome = false
        var listeners: [Int: @Sendable () -> Void] = [:]
        /// Called before the process exits without waiting for its work.
        var cleanups: [Int: @Sendable () -> Void] = [:]
        /// The number of the last listener or cleanup.
        var lastNumber = 0
    }

    private let state = Guarded(State())

    /// Creates an interruption that the user has not requested yet.
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

    /// Whether the user has interrupted the command.
    public var hasCome: Bool { state.withLock { $0.hasCome } }

    /// Registers a listener for the interruption; calls it immediately if the user has already interrupted the command. Returns
    /// the number for `forget`; nil if the listener has been called.
    @discardableResult
    public func listen(_ listener: @escaping @Sendable () -> Void) -> Int? {
        let number = state.withLock { state -> Int? in
            if state.hasCome { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = listener
            return state.lastNumber
        }
        if number == nil { listener() }
        return number
    }

    /// Registers a cleanup that runs before the process exits without waiting for its work. Returns the number for `forget`.
    func addCleanup(_ cleanup: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.cleanups[state.lastNumber] = cleanup
            return state.lastNumber
        }
    }

    /// Runs the cleanups. To be called before the process exits without waiting for its work.
    public func leave() {
        let cleanups = state.withLock { state in
            defer { state.cleanups = [:] }
            return state.cleanups.sorted { $0.key < $1.key }.map(\.value)
        }
        for cleanup in cleanups { cleanup() }
    }

    /// Waits for this number of seconds, or until the user interrupts the command.
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
            state.cleanups[number] = nil
        }
    }
}
