// SPDX-License-Identifier: MIT

/// Shows the progress of transfers, one row for each. On a terminal the rows are redrawn, otherwise they are printed every few
/// seconds. Any thread may use it.
final class ProgressBoard: Sendable {
    /// One transfer.
    private struct Row {
        var bar: ProgressBar
        /// Returns the number of bytes so far, for a transfer that does not report it by `update`.
        var readByteCount: (@Sendable () -> Int64)?
        let startTime: ContinuousClock.Instant
    }

    private struct State {
        var rows: [Row] = []
        /// The number of rows that the last drawing has put on the terminal.
        var drawnRows = 0
        /// The time at which the rows were last printed to an output that is not a terminal.
        var lastPrintTime: ContinuousClock.Instant?
        var isClosed = false
    }

    private let sink: ProcessContext.Sink
    private let usesUnicode: Bool
    private let style: Style
    private let state = Guarded(State())
    /// A lock that a thread holds from rendering the rows until they are written, so that older rows never overwrite newer ones.
    private let drawing = Guarded(())
    private let clock = ContinuousClock()

    /// The interval at which the rows are redrawn on a terminal.
    private static let drawInterval = Duration.milliseconds(100)
    /// The interval at which the rows are printed to an output that is not a terminal.
    static let printInterval = Duration.seconds(3)

    init(sink: ProcessContext.Sink, unicode usesUnicode: Bool, style: Style) {
        self.sink = sink
        self.usesUnicode = usesUnicode
        self.style = style
    }

    /// Starts to show the rows, until `close()`.
    func begin() {
        // The task ends when the board is closed or released.
        Task { [weak self] in
            while let self, !self.state.withLock({ $0.isClosed }) {
                self.refresh()
                try? await Task.sleep(for: Self.drawInterval)
            }
        }
    }

    /// Adds a row and returns its number, which is its index in `rows`. No row is ever removed.
    func add(_ name: String) -> Int {
        state.withLock { state in
            state.rows.append(Row(bar: ProgressBar(name: name), startTime: clock.now))
            return state.rows.count - 1
        }
    }

    /// Changes a row, unless its transfer has ended.
    func update(_ number: Int, _ change: (inout ProgressBar) -> Void) {
        state.withLock { state in
            guard state.rows[number].bar.outcome == nil else { return }
            change(&state.rows[number].bar)
        }
    }

    /// Sets a closure that the board calls whenever it needs the byte count of a row.
    func setByteCounter(of number: Int, _ readByteCount: @escaping @Sendable () -> Int64) {
        state.withLock { $0.rows[number].readByteCount = readByteCount }
    }

    /// Updates the rows that have a byte counter. The counters are called without the lock, since they call the library.
    private func pollByteCounters() {
        let counters = state.withLock { $0.rows.map(\.readByteCount) }
        for (number, readByteCount) in counters.enumerated() {
            guard let count = readByteCount?() else { continue }
            update(number) { $0.count = count }
        }
    }

    /// Sets the outcome of a row and shows the row immediately. A row that has an outcome keeps it.
    func finish(_ number: Int, _ outcome: String) {
        pollByteCounters()
        let line = state.withLock { state -> TerminalText? in
            guard state.rows[number].bar.outcome == nil else { return nil }
            state.rows[number].bar.elapsed = (clock.now - state.rows[number].startTime) / .seconds(1)
            state.rows[number].bar.outcome = outcome
            // On a terminal, `draw` shows the row among the others.
            return sink.isTerminal ? nil : state.rows[number].bar.plainLine
        }
        if let line { sink.say(line + "\n") }
        if sink.isTerminal { draw() }
    }

    /// Stops drawing, and ends the last row's line, so that later output appears below the rows.
    func close() {
        drawing.withLock { _ in
            // On a second call, the line has ended already: `isClosed` is read before it is set.
            let needsLineEnd = state.withLock { state in
                defer { state.isClosed = true }
                return state.drawnRows > 0 && !state.isClosed
            }
            if needsLineEnd { sink.say("\n") }
        }
    }

    /// Draws the rows, or prints them if `printInterval` has passed.
    private func refresh() {
        pollByteCounters()
        if sink.isTerminal { return draw() }
        let now = clock.now
        let lines = state.withLock { state -> [TerminalText] in
            guard !state.isClosed else { return [] }
            // The rows are first printed one interval after the first row was added.
            let start = state.rows.map(\.startTime).min() ?? now
            guard now - (state.lastPrintTime ?? start) >= Self.printInterval else { return [] }
            state.lastPrintTime = now
            return state.rows.indices.compactMap { index in
                guard state.rows[index].bar.outcome == nil else { return nil }
                state.rows[index].bar.elapsed = (now - state.rows[index].startTime) / .seconds(1)
                return state.rows[index].bar.plainLine
            }
        }
        for line in lines { sink.say(line + "\n") }
    }

    /// Draws the rows on the terminal.
    private func draw() {
        drawing.withLock { _ in
            if let text = renderedRows() { sink.say(text) }
        }
    }

    /// Returns the text and the escape sequences that draw all rows; nil if there are no rows or the board is closed.
    ///
    /// `ESC [ n A` moves the cursor up from the last row to the first. `ESC [ K` clears the rest of a line that was longer
    /// before.
    private func renderedRows() -> TerminalText? {
        let columns = sink.columns()
        return state.withLock { state -> TerminalText? in
            guard !state.isClosed, !state.rows.isEmpty else { return nil }
            var text: TerminalText = state.drawnRows > 1 ? "\u{1B}[\(state.drawnRows - 1)A\r" : "\r"
            let lines = state.rows.indices.map { index -> TerminalText in
                if state.rows[index].bar.outcome == nil {
                    state.rows[index].bar.elapsed = (clock.now - state.rows[index].startTime) / .seconds(1)
                }
                return state.rows[index].bar.line(columns: columns, unicode: usesUnicode, style: style)
            }
            state.drawnRows = lines.count
            text += lines.joined("\u{1B}[K\n") + "\u{1B}[K"
            return text
        }
    }
}
