// SPDX-License-Identifier: MIT

/// The user's request to stop (Ctrl-C), of which each listener is notified once. Any thread may call the methods.
public final class Interruption: Sendable {
    private struct State {
        var hasOccurred = false
        var listeners: [Int: @Sendable () -> Void] = [:]
        /// The closures that remove temporary files, in case the process exits in the middle of its work.
        var cleanups: [Int: @Sendable () -> Void] = [:]
        /// The number of the last listener or cleanup.
        var lastNumber = 0
    }

    private let state = Guarded(State())

    /// Creates an interruption that the user has not requested yet.
    public init() {}

    /// Records the interruption, and calls and removes the listeners. Returns whether there were any listeners: without one,
    /// nothing would end the command, so the caller ends the process.
    @discardableResult
    public func interrupt() -> Bool {
        let listeners = state.withLock { state in
            state.hasOccurred = true
            defer { state.listeners = [:] }
            return state.listeners.values.map { $0 }
        }
        for listener in listeners { listener() }
        return !listeners.isEmpty
    }

    /// Whether the user has interrupted the command.
    public var hasOccurred: Bool { state.withLock { $0.hasOccurred } }

    /// Registers a listener for the interruption; calls it immediately if the user has already interrupted the command. Returns
    /// the number for `remove`; nil if the listener has been called.
    @discardableResult
    public func addListener(_ listener: @escaping @Sendable () -> Void) -> Int? {
        let number = state.withLock { state -> Int? in
            if state.hasOccurred { return nil }
            state.lastNumber += 1
            state.listeners[state.lastNumber] = listener
            return state.lastNumber
        }
        if number == nil { listener() }
        return number
    }

    /// Registers a closure for `runCleanups`. Returns the number for `remove`.
    func addCleanup(_ cleanup: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            state.cleanups[state.lastNumber] = cleanup
            return state.lastNumber
        }
    }

    /// Runs the cleanups in the order of their registration, each once. The process calls this method before it exits in the
    /// middle of its work.
    public func runCleanups() {
        let cleanups = state.withLock { state in
            defer { state.cleanups = [:] }
            return state.cleanups.sorted { $0.key < $1.key }.map(\.value)
        }
        for cleanup in cleanups { cleanup() }
    }

    /// Waits for this number of seconds, or until the user interrupts the command.
    func wait(atMostSeconds seconds: Double) async {
        // The loop below notices the interruption. The listener does nothing, but makes `interrupt` return true: otherwise the
        // process would exit at once.
        let listenerNumber = addListener {}
        defer { remove(listenerNumber) }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        while clock.now < deadline, !hasOccurred {
            try? await Task.sleep(for: min(.milliseconds(50), deadline - clock.now))
        }
    }

    /// Removes the listener or the cleanup with this number; does nothing if the number is nil.
    public func remove(_ number: Int?) {
        guard let number else { return }
        state.withLock { state in
            state.listeners[number] = nil
            state.cleanups[number] = nil
        }
    }
}
