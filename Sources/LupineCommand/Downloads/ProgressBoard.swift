// SPDX-License-Identifier: MIT

/// Shows the progress of transfers, one row each: redrawn on a terminal, otherwise printed every few seconds. Any
/// thread may use it.
final class ProgressBoard: Sendable {
    private struct Row {
        var bar: ProgressBar
        /// Returns the bytes so far, for a transfer that does not report them.
        var count: (@Sendable () -> Int64)?
        let start: ContinuousClock.Instant
    }

    private struct State {
        var rows: [Row] = []
        /// The number of rows that are on the terminal now.
        var drawn = 0
        var lastPlain: ContinuousClock.Instant?
        var isOver = false
    }

    private let sink: ProcessContext.Sink
    private let unicode: Bool
    private let style: Style
    private let state = Guarded(State())
    /// Held from rendering the rows until they are written, so that older rows never overwrite newer ones.
    private let drawing = Guarded(())
    private let clock = ContinuousClock()

    /// The interval of plain lines.
    static let plainInterval = Duration.seconds(3)

    init(sink: ProcessContext.Sink, unicode: Bool, style: Style) {
        self.sink = sink
        self.unicode = unicode
        self.style = style
    }

    /// Starts to draw, until `close()`.
    func begin() {
        Task { [weak self] in
            while let self, !self.state.withLock({ $0.isOver }) {
                self.show()
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Adds a row and returns its number.
    func add(_ name: String) -> Int {
        state.withLock { state in
            state.rows.append(Row(bar: ProgressBar(name: name), start: clock.now))
            return state.rows.count - 1
        }
    }

    /// Updates a row, unless it has ended.
    func update(_ number: Int, _ change: (inout ProgressBar) -> Void) {
        state.withLock { state in
            guard state.rows[number].bar.end == nil else { return }
            change(&state.rows[number].bar)
        }
    }

    /// From now on `count` is polled for the progress of a row.
    func poll(_ number: Int, _ count: @escaping @Sendable () -> Int64) {
        state.withLock { $0.rows[number].count = count }
    }

    /// Polls the `count` closures.
    private func pollCounts() {
        for (number, count) in state.withLock({ $0.rows.map(\.count).enumerated().map { ($0, $1) } }) {
            guard let value = count?() else { continue }
            update(number) { $0.count = value }
        }
    }

    /// Ends a row and shows that at once.
    func finish(_ number: Int, _ end: String) {
        pollCounts()
        let line = state.withLock { state -> TerminalText? in
            guard state.rows[number].bar.end == nil else { return nil }
            state.rows[number].bar.elapsed = (clock.now - state.rows[number].start) / .seconds(1)
            state.rows[number].bar.end = end
            return sink.isTerminal ? nil : state.rows[number].bar.plain
        }
        if let line { sink.say(line + "\n") }
        if sink.isTerminal { draw() }
    }

    /// Stops drawing; later output appears below the rows.
    func close() {
        drawing.withLock { _ in
            let needsLine = state.withLock { state in
                defer { state.isOver = true }
                return state.drawn > 0 && !state.isOver
            }
            if needsLine { sink.say("\n") }
        }
    }

    private func show() {
        pollCounts()
        if sink.isTerminal { return draw() }
        let now = clock.now
        let lines = state.withLock { state -> [TerminalText] in
            guard !state.isOver else { return [] }
            let begin = state.rows.map(\.start).min() ?? now
            guard now - (state.lastPlain ?? begin) >= Self.plainInterval else { return [] }
            state.lastPlain = now
            return state.rows.indices.compactMap { index in
                guard state.rows[index].bar.end == nil else { return nil }
                state.rows[index].bar.elapsed = (now - state.rows[index].start) / .seconds(1)
                return state.rows[index].bar.plain
            }
        }
        for line in lines { sink.say(line + "\n") }
    }

    private func draw() {
        drawing.withLock { _ in
            if let text = renderedRows() { sink.say(text) }
        }
    }

    /// Returns the rows as they are to be drawn now; nil if there are none or the board is closed.
    private func renderedRows() -> TerminalText? {
        let columns = sink.columns()
        return state.withLock { state -> TerminalText? in
            guard !state.isOver, !state.rows.isEmpty else { return nil }
            var text: TerminalText = state.drawn > 1 ? "\u{1B}[\(state.drawn - 1)A\r" : "\r"
            let lines = state.rows.indices.map { index -> TerminalText in
                if state.rows[index].bar.end == nil {
                    state.rows[index].bar.elapsed = (clock.now - state.rows[index].start) / .seconds(1)
                }
                return state.rows[index].bar.line(columns: columns, unicode: unicode, style: style)
            }
            state.drawn = lines.count
            text += lines.joined("\u{1B}[K\n") + "\u{1B}[K"
            return text
        }
    }
}
