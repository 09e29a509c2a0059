// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The output of `-w`: a format with `%{name}` placeholders, filled in from the result of a fetch.
struct WriteOut: Sendable {
    private let report: FetchReport

    init(_ report: FetchReport) { self.report = report }

    /// Returns the filled-in format. The format is the user's and trusted, the values are not. Unknown names are left out, as in
    /// curl.
    func text(_ format: String) -> TerminalText {
        var text = TerminalText()
        var literal = ""
        func fill(_ value: String) {
            text += TerminalText(trusted: literal) + "\(value)"
            literal = ""
        }
        var rest = Substring(format)
        while let letter = rest.popFirst() {
            if letter == "\\", let escape = rest.first {
                rest = rest.dropFirst()
                switch escape {
                case "n": literal += "\n"
                case "t": literal += "\t"
                case "r": literal += "\r"
                case "\\": literal += "\\"
                default: literal += "\\\(escape)"
                }
            } else if letter == "%", rest.first == "%" {
                rest = rest.dropFirst()
                literal += "%"
            } else if letter == "%", rest.hasPrefix("header{"), let end = rest.firstIndex(of: "}") {
                let name = String(rest[rest.index(rest.startIndex, offsetBy: 7)..<end])
                fill(report.response?.value(forHTTPHeaderField: name) ?? "")
                rest = rest[rest.index(after: end)...]
            } else if letter == "%", rest.first == "{", let end = rest.firstIndex(of: "}") {
                fill(value(String(rest[rest.index(after: rest.startIndex)..<end])))
                rest = rest[rest.index(after: end)...]
            } else {
                literal.append(letter)
            }
        }
        fill("")
        return text
    }

    private var transactions: [URLSessionTaskTransactionMetrics] {
        report.metrics.flatMap(\.transactionMetrics)
    }
    private var last: URLSessionTaskTransactionMetrics? { transactions.last }

    private func value(_ name: String) -> String {
        switch name {
        case "http_code", "response_code":
            let code = "\(report.response?.statusCode ?? 0)"
            return String(repeating: "0", count: max(0, 3 - code.count)) + code
        case "http_version":
            return report.response.map { String($0.lupine.version.drop { $0 != "/" }.dropFirst()) } ?? "0"
        case "url": return report.plan.typed
        case "url_effective": return (report.response?.url ?? report.plan.url).absoluteString
        case "content_type": return report.response?.value(forHTTPHeaderField: "Content-Type") ?? ""
        case "size_download": return "\(report.received)"
        case "size_upload": return "\(transactions.map(\.countOfRequestBodyBytesSent).reduce(0, +))"
        case "size_header": return "\(transactions.map(\.countOfResponseHeaderBytesReceived).reduce(0, +))"
        case "size_request": return "\(transactions.map(\.countOfRequestHeaderBytesSent).reduce(0, +))"
        case "num_redirects": return "\(report.redirects)"
        case "num_connects":
            return "\(transactions.filter { !$0.isReusedConnection && $0.remoteAddress != nil }.count)"
        case "num_headers": return "\(report.response?.lupine.fields.count ?? 0)"
        case "redirect_url":
            guard let response = report.response, (300..<400).contains(response.statusCode),
                let location = response.value(forHTTPHeaderField: "Location")
            else { return "" }
            return URL(string: location, relativeTo: response.url)?.absoluteString ?? ""
        case "remote_ip": return last?.remoteAddress ?? ""
        case "remote_port": return last?.remotePort ?? "0"
        case "local_ip": return last?.localAddress ?? ""
        case "local_port": return last?.localPort ?? "0"
        case "method": return last?.request.httpMethod ?? report.plan.method
        case "scheme": return report.response?.url?.scheme ?? report.plan.url.scheme ?? ""
        case "filename_effective": return report.file ?? ""
        case "exitcode": return "\(report.code.rawValue)"
        case "errormsg": return report.failure?.description ?? ""
        default: return time(name)
        }
    }

    private func time(_ name: String) -> String {
        let origin = transactions.first?.fetchStartDate
        func since(_ date: Date?) -> Double {
            guard let origin, let date else { return 0 }
            return max(0, date.timeIntervalSince(origin))
        }
        let total = report.metrics.last.map { since($0.taskInterval.end) } ?? 0
        let seconds: Double
        switch name {
        case "time_namelookup": seconds = since(last?.domainLookupEndDate)
        case "time_connect": seconds = since(last?.secureConnectionStartDate ?? last?.connectEndDate)
        case "time_appconnect": seconds = since(last?.secureConnectionEndDate)
        case "time_pretransfer": seconds = since(last?.requestStartDate)
        case "time_starttransfer": seconds = since(last?.responseStartDate)
        case "time_total": seconds = total
        case "speed_download": return "\(total > 0 ? Int64(Double(report.received) / total) : 0)"
        default: return ""
        }
        return ByteText.decimals(seconds, 6)
    }
}
