// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The output of `-w`: a format with `%{name}` placeholders, filled in from the result of a fetch.
struct WriteOut: Sendable {
    private let report: FetchReport

    init(_ report: FetchReport) { self.report = report }

    /// Returns the format with its placeholders replaced. The format is the user's and trusted, the values are not. Placeholders
    /// with unknown names are removed, as in curl.
    func text(_ format: String) -> TerminalText {
        var text = TerminalText()
        // The literal text since the last value, which is not in `text` yet.
        var literal = ""
        func appendValue(_ value: String) {
            text += TerminalText(trusted: literal) + "\(value)"
            literal = ""
        }
        var unread = Substring(format)
        while let letter = unread.popFirst() {
            if letter == "\\", let escape = unread.first {
                unread = unread.dropFirst()
                switch escape {
                case "n": literal += "\n"
                case "t": literal += "\t"
                case "r": literal += "\r"
                case "\\": literal += "\\"
                default: literal += "\\\(escape)"
                }
            } else if letter == "%", unread.first == "%" {
                unread = unread.dropFirst()
                literal += "%"
            } else if letter == "%", unread.hasPrefix("header{"), let end = unread.firstIndex(of: "}") {
                let name = String(unread[..<end].dropFirst("header{".count))
                appendValue(report.response?.value(forHTTPHeaderField: name) ?? "")
                unread = unread[unread.index(after: end)...]
            } else if letter == "%", unread.first == "{", let end = unread.firstIndex(of: "}") {
                appendValue(value(String(unread[unread.index(after: unread.startIndex)..<end])))
                unread = unread[unread.index(after: end)...]
            } else {
                literal.append(letter)
            }
        }
        // Appends the rest of the literal.
        appendValue("")
        return text
    }

    /// The transactions of all attempts.
    private var transactions: [URLSessionTaskTransactionMetrics] {
        report.metrics.flatMap(\.transactionMetrics)
    }
    private var lastTransaction: URLSessionTaskTransactionMetrics? { transactions.last }

    /// Returns the value of a placeholder; empty if the name is unknown.
    private func value(_ name: String) -> String {
        switch name {
        case "http_code", "response_code":
            let code = "\(report.response?.statusCode ?? 0)"
            return String(repeating: "0", count: max(0, 3 - code.count)) + code
        case "http_version":
            // Without the `HTTP/` before the number.
            return report.response.map { String($0.lupine.version.drop { $0 != "/" }.dropFirst()) } ?? "0"
        case "url": return report.plan.typedURL
        case "url_effective": return (report.response?.url ?? report.plan.url).absoluteString
        case "content_type": return report.response?.value(forHTTPHeaderField: "Content-Type") ?? ""
        case "size_download": return "\(report.receivedByteCount)"
        case "size_upload": return "\(transactions.map(\.countOfRequestBodyBytesSent).reduce(0, +))"
        case "size_header": return "\(transactions.map(\.countOfResponseHeaderBytesReceived).reduce(0, +))"
        case "size_request": return "\(transactions.map(\.countOfRequestHeaderBytesSent).reduce(0, +))"
        case "num_redirects": return "\(report.redirectCount)"
        case "num_connects":
            // A transaction without a remote address has not connected.
            return "\(transactions.filter { !$0.isReusedConnection && $0.remoteAddress != nil }.count)"
        case "num_headers": return "\(report.response?.lupine.fields.count ?? 0)"
        case "redirect_url":
            guard let response = report.response, (300..<400).contains(response.statusCode),
                let location = response.value(forHTTPHeaderField: "Location")
            else { return "" }
            return URL(string: location, relativeTo: response.url)?.absoluteString ?? ""
        case "remote_ip": return lastTransaction?.remoteAddress ?? ""
        case "remote_port": return lastTransaction?.remotePort ?? "0"
        case "local_ip": return lastTransaction?.localAddress ?? ""
        case "local_port": return lastTransaction?.localPort ?? "0"
        case "method": return lastTransaction?.request.httpMethod ?? report.plan.method
        case "scheme": return report.response?.url?.scheme ?? report.plan.url.scheme ?? ""
        case "filename_effective": return report.shownFileName ?? ""
        case "exitcode": return "\(report.exitCode.rawValue)"
        case "errormsg": return report.failure?.description ?? ""
        default: return time(name)
        }
    }

    /// Returns the value of a placeholder for a time or a speed; empty if the name is unknown.
    private func time(_ name: String) -> String {
        let startDate = transactions.first?.fetchStartDate
        func secondsSinceStart(_ date: Date?) -> Double {
            guard let startDate, let date else { return 0 }
            return max(0, date.timeIntervalSince(startDate))
        }
        let total = report.metrics.last.map { secondsSinceStart($0.taskInterval.end) } ?? 0
        let seconds: Double
        switch name {
        case "time_namelookup": seconds = secondsSinceStart(lastTransaction?.domainLookupEndDate)
        case "time_connect":
            // With TLS, `connectEndDate` is the end of the handshake.
            seconds = secondsSinceStart(
                lastTransaction?.secureConnectionStartDate ?? lastTransaction?.connectEndDate)
        case "time_appconnect": seconds = secondsSinceStart(lastTransaction?.secureConnectionEndDate)
        case "time_pretransfer": seconds = secondsSinceStart(lastTransaction?.requestStartDate)
        case "time_starttransfer": seconds = secondsSinceStart(lastTransaction?.responseStartDate)
        case "time_total": seconds = total
        case "speed_download": return "\(total > 0 ? Int64(Double(report.receivedByteCount) / total) : 0)"
        default: return ""
        }
        return ByteText.decimals(seconds, 6)
    }
}
