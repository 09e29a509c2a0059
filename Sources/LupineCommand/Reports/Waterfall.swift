// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The timing of a fetch (`--timing`): a row for each transaction, thus for each redirect, challenge and attempt. Times are
/// seconds since the start of the first.
struct Waterfall: Sendable {
    /// A part of a transaction.
    enum Phase: String, CaseIterable, Sendable {
        case lookUp = "look-up"
        case connect = "connect"
        case tls = "tls"
        case send = "send"
        case wait = "wait"
        case receive = "receive"

        /// The letter that it is drawn with.
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

    struct Row: Sendable {
        var method: String
        var url: String
        var status: Int?
        var isReused: Bool
        var remote: String?
        var start: Double
        var end: Double
        var spans: [(phase: Phase, start: Double, end: Double)]
    }

    let rows: [Row]
    let total: Double

    init(rows: [Row], total: Double) {
        self.rows = rows
        self.total = total
    }

    init(_ report: FetchReport) {
        let transactions = report.metrics.flatMap(\.transactionMetrics)
        guard let origin = transactions.compactMap(\.fetchStartDate).min() else {
            self.init(rows: [], total: 0)
            return
        }
        let rows = transactions.map { Row($0, since: origin) }
        let ends = report.metrics.map { $0.taskInterval.end.timeIntervalSince(origin) }
        self.init(rows: rows, total: max(rows.map(\.end).max() ?? 0, ends.max() ?? 0))
    }

    // MARK: for people

    func text(columns: Int, unicode: Bool, style: Style) -> TerminalText {
        guard !rows.isEmpty else { return "Nothing was measured: no request was sent.\n" }
        let width = max(10, min(columns, 120) - 14)
        var lines: [TerminalText] = []
        for row in rows {
            let status =
                row.status.map { style.paint("\($0)", Style.ink(status: $0)) } ?? style.paint("---", .bad)
            let reused = row.isReused ? ", connection used again" : ""
            let remote = row.remote.map { " (\($0)\(reused))" } ?? ""
            let address = TerminalFilter.line("\(row.method) \(row.url)")
            let room = max(10, columns - 5 - (columns < 60 ? 0 : remote.count))
            let cut =
                address.count > room ? String(address.prefix(room - 1)) + (unicode ? "…" : "~") : address
            lines.append("\(status) \(cut)\(columns < 60 ? "" : style.paint(remote, .faint))")
            for span in row.spans {
                let left = total > 0 ? Int(span.start / total * Double(width)) : 0
                let size = total > 0 ? max(1, Int((span.end - span.start) / total * Double(width))) : 1
                let mark = unicode ? "█" : String(span.phase.letter)
                let start = min(left, width - 1)
                let bar = String(repeating: mark, count: min(size, width - start))
                let time = ByteText.duration(span.end - span.start)
                let label: TerminalText = "  \(span.phase.rawValue.padded(to: 8))"
                let field: TerminalText =
                    "\(String(repeating: " ", count: start))\(style.paint(bar, Self.ink(span.phase)))"
                let isRoomy = start + bar.count + time.count + 1 <= width
                lines.append("\(label) \(field)\(isRoomy ? " \(time)" : "")")
                if !isRoomy {
                    lines[lines.count - 1] = "\(label) \(inFront(of: bar, start, time, span.phase, style))"
                }
            }
        }
        lines.append("  total    \(ByteText.duration(total))")
        return lines.joined("\n") + "\n"
    }

    private func inFront(of bar: String, _ start: Int, _ time: String, _ phase: Phase, _ style: Style)
        -> TerminalText
    {
        let painted = style.paint(bar, Self.ink(phase))
        guard start > time.count else { return painted }
        return "\(String(repeating: " ", count: start - time.count - 1))\(time) \(painted)"
    }

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

    private static func number(_ seconds: Double) -> String { ByteText.decimals(max(0, seconds), 6) }
}

extension Waterfall.Row {
    init(_ metrics: URLSessionTaskTransactionMetrics, since origin: Date) {
        func time(_ date: Date?) -> Double? { date.map { max(0, $0.timeIntervalSince(origin)) } }
        method = metrics.request.httpMethod ?? "GET"
        url = metrics.request.url.map(ShownAddress.text) ?? ""
        status = (metrics.response as? HTTPURLResponse)?.statusCode
        isReused = metrics.isReusedConnection
        remote = metrics.remoteAddress.map { host in
            let name = host.contains(":") ? "[\(host)]" : host
            return metrics.remotePort.map { "\(name):\($0)" } ?? name
        }
        var spans: [(phase: Waterfall.Phase, start: Double, end: Double)] = []
        func add(_ phase: Waterfall.Phase, _ from: Date?, _ to: Date?) {
            guard let start = time(from), let end = time(to) else { return }
            spans.append((phase, start, max(start, end)))
        }
        add(.lookUp, metrics.domainLookupStartDate, metrics.domainLookupEndDate)
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
