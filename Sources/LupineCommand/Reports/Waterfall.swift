// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The timing of a fetch (`--timing`): a row for each transaction. Each redirect, answered challenge and retry is a transaction
/// of its own. Times are in seconds since the start of the first transaction.
struct Waterfall: Sendable {
    /// A phase of a transaction, with its name in the output.
    enum Phase: String, CaseIterable, Sendable {
        case lookUp = "look-up"
        case connect = "connect"
        case tls = "tls"
        case send = "send"
        case wait = "wait"
        case receive = "receive"

        /// The letter that draws the phase without Unicode.
        var letter: Character {
            switch self {
            case .lookUp: "l"
            case .connect: "c"
            case .tls: "t"
            case .send: "s"
            case .wait: "w"
            case .receive: "r"
            }
        }
    }

    /// The timing of one transaction.
    struct Row: Sendable {
        var method: String
        var url: String
        /// The status code; nil if no response arrived.
        var status: Int?
        /// Whether the transaction used the connection of an earlier one.
        var isReused: Bool
        /// The address and the port of the server or the proxy.
        var remote: String?
        var start: Double
        var end: Double
        /// The phases that the transaction had, in order. A reused connection needs no look-up, for example.
        var spans: [(phase: Phase, start: Double, end: Double)]
    }

    let rows: [Row]
    /// The time from the start of the first transaction to the end of the last attempt.
    let total: Double

    init(rows: [Row], total: Double) {
        self.rows = rows
        self.total = total
    }

    init(_ report: FetchReport) {
        let transactions = report.metrics.flatMap(\.transactionMetrics)
        guard let startDate = transactions.compactMap(\.fetchStartDate).min() else {
            self.init(rows: [], total: 0)
            return
        }
        let rows = transactions.map { Row($0, since: startDate) }
        let ends = report.metrics.map { $0.taskInterval.end.timeIntervalSince(startDate) }
        self.init(rows: rows, total: max(rows.map(\.end).max() ?? 0, ends.max() ?? 0))
    }

    // MARK: for people

    /// Returns the waterfall as lines for a terminal with this number of columns. With `usesUnicode`, the bars are blocks and not
    /// letters.
    func text(columns: Int, unicode usesUnicode: Bool, style: Style) -> TerminalText {
        guard !rows.isEmpty else { return "Nothing was measured: no request was sent.\n" }
        // The columns of the bars and their times, which are after the names of the phases.
        let width = max(10, min(columns, 120) - 14)
        let isNarrow = columns < 60
        var lines: [TerminalText] = []
        for row in rows {
            let status =
                row.status.map { style.paint("\($0)", Style.ink(status: $0)) } ?? style.paint("---", .bad)
            let reused = row.isReused ? ", connection used again" : ""
            let remote = row.remote.map { " (\($0)\(reused))" } ?? ""
            let address = TerminalFilter.line("\(row.method) \(row.url)")
            // The address is between the status, which has three digits, and `remote`. A space and the last column stay empty.
            let statusAndMargins = 5
            let addressWidth = max(10, columns - statusAndMargins - (isNarrow ? 0 : remote.count))
            var shortAddress = address
            if address.count > addressWidth {
                shortAddress = String(address.prefix(addressWidth - 1)) + (usesUnicode ? "…" : "~")
            }
            lines.append("\(status) \(shortAddress)\(isNarrow ? "" : style.paint(remote, .faint))")
            for span in row.spans {
                let offset = total > 0 ? Int(span.start / total * Double(width)) : 0
                let length = total > 0 ? max(1, Int((span.end - span.start) / total * Double(width))) : 1
                let block = usesUnicode ? "█" : String(span.phase.letter)
                let start = min(offset, width - 1)
                let bar = String(repeating: block, count: min(length, width - start))
                let time = ByteText.duration(span.end - span.start)
                let label: TerminalText = "  \(span.phase.rawValue.padded(to: 8))"
                if start + bar.count + time.count + 1 <= width {
                    let margin = String(repeating: " ", count: start)
                    lines.append("\(label) \(margin)\(style.paint(bar, Self.ink(span.phase))) \(time)")
                } else {
                    // There is no room for the time after the bar.
                    let field = timeBeforeBar(bar, start, time, span.phase, style)
                    lines.append("\(label) \(field)")
                }
            }
        }
        lines.append("  total    \(ByteText.duration(total))")
        return lines.joined("\n") + "\n"
    }

    /// Returns a bar that starts in this column, with the time before it. Without room there, returns only the bar.
    private func timeBeforeBar(
        _ bar: String, _ start: Int, _ time: String, _ phase: Phase, _ style: Style
    ) -> TerminalText {
        let paintedBar = style.paint(bar, Self.ink(phase))
        // There is no room for the time here either: the bar is drawn alone, from the first column on.
        guard start > time.count else { return paintedBar }
        return "\(String(repeating: " ", count: start - time.count - 1))\(time) \(paintedBar)"
    }

    /// Returns the colour of a phase.
    private static func ink(_ phase: Phase) -> Style.Ink {
        switch phase {
        case .lookUp: .name
        case .connect: .change
        case .tls: .word
        case .send: .number
        case .wait: .faint
        case .receive: .good
        }
    }

    // MARK: for programs

    /// The timing as one JSON object on one line.
    var json: String {
        let rows = rows.map { row -> String in
            var members: [(name: String, json: String)] = [
                ("method", JSONText.quoted(row.method)), ("url", JSONText.quoted(row.url)),
                ("status", row.status.map { "\($0)" } ?? "null"), ("reused", row.isReused ? "true" : "false"),
                ("remote", row.remote.map(JSONText.quoted) ?? "null"), ("start", Self.number(row.start)),
                ("end", Self.number(row.end)),
            ]
            let spans = row.spans.map { span in
                JSONText.object([
                    ("phase", JSONText.quoted(span.phase.rawValue)), ("start", Self.number(span.start)),
                    ("end", Self.number(span.end)),
                ])
            }
            members.append(("phases", "[" + spans.joined(separator: ", ") + "]"))
            return JSONText.object(members)
        }
        return JSONText.object([
            ("total", Self.number(total)), ("transactions", "[" + rows.joined(separator: ", ") + "]"),
        ])
    }

    /// Formats seconds as a JSON number.
    private static func number(_ seconds: Double) -> String { ByteText.decimals(max(0, seconds), 6) }
}

extension Waterfall.Row {
    /// Creates the row of a transaction; its times are relative to `startDate`.
    init(_ metrics: URLSessionTaskTransactionMetrics, since startDate: Date) {
        // Returns the seconds from `startDate` to a date.
        func time(_ date: Date?) -> Double? { date.map { max(0, $0.timeIntervalSince(startDate)) } }
        method = metrics.request.httpMethod ?? "GET"
        url = metrics.request.url.map(ShownAddress.text) ?? ""
        status = (metrics.response as? HTTPURLResponse)?.statusCode
        isReused = metrics.isReusedConnection
        remote = metrics.remoteAddress.map { host in
            let name = host.contains(":") ? "[\(host)]" : host
            return metrics.remotePort.map { "\(name):\($0)" } ?? name
        }
        var spans: [(phase: Waterfall.Phase, start: Double, end: Double)] = []
        // Adds a phase, if the transaction had it.
        func add(_ phase: Waterfall.Phase, _ phaseStart: Date?, _ phaseEnd: Date?) {
            guard let start = time(phaseStart), let end = time(phaseEnd) else { return }
            spans.append((phase, start, max(start, end)))
        }
        add(.lookUp, metrics.domainLookupStartDate, metrics.domainLookupEndDate)
        // With TLS, `connectEndDate` is the end of the handshake, and connecting ends where the handshake starts.
        add(.connect, metrics.connectStartDate, metrics.secureConnectionStartDate ?? metrics.connectEndDate)
        add(.tls, metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
        add(.send, metrics.requestStartDate, metrics.requestEndDate)
        add(.wait, metrics.requestEndDate, metrics.responseStartDate)
        add(.receive, metrics.responseStartDate, metrics.responseEndDate)
        self.spans = spans
        start = time(metrics.fetchStartDate) ?? 0
        end = max(start, spans.map(\.end).max() ?? start)
    }
}
