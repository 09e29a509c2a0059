// SPDX-License-Identifier: MIT

/// The user's wish to end, Ctrl-C: it comes from anywhere, and whoever is at work hears of it once. Any thread.
public final class Interruption: Sendable {
    private struct State {
        var hasCome = false
        var listeners: [Int: @Sendable () -> Void] = [:]
        /// What is to be done before the process ends at once.
        var duties: [Int: @Sendable () -> Void] = [:]
        var next = 0
    }

    private let state = Guarded(State())

    /// A wish that has not come.
    public init() {}

    /// The wish has come. Gives whether anybody was there to hear of it.
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

    /// Whether it has come.
    public var hasCome: Bool { state.withLock { $0.hasCome } }

    /// Has `listener` called once, at once when the wish has come already. Gives the number to forget it by.
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

    /// Has `duty` called before the process ends without waiting for those at work. Gives the number to forget it by.
    func beforeLeaving(_ duty: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.duties[state.next] = duty
            return state.next
        }
    }

    /// The process ends at once: what is to be done before that is done.
    public func leave() {
        let duties = state.withLock { state in
            defer { state.duties = [:] }
            return state.duties.sorted { $0.key < $1.key }.map(\.value)
        }
        for duty in duties { duty() }
    }

    /// Waits so many seconds, or until it comes.
    func pause(_ seconds: Double) async {
        let listener = listen {}
        defer { forget(listener) }
        let clock = ContinuousClock()
        let end = clock.now + .seconds(seconds)
        while clock.now < end, !hasCome {
            try? await Task.sleep(for: min(.milliseconds(50), end - clock.now))
        }
    }

    /// Forgets a listener, or what is to be done before leaving.
    public func forget(_ number: Int?) {
        guard let number else { return }
        state.withLock { state in
            state.listeners[number] = nil
            state.duties[number] = nil
        }
    }
}
