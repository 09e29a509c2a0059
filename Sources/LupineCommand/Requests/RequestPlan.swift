// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// One complete request of a command line, for one URL, with its credentials.
struct RequestPlan: Sendable {
    /// Files up to this length are read into memory, longer ones while they are sent.
    static let largestInMemory: Int64 = 8 << 20

    /// The URL as typed.
    let typed: String
    let url: URL
    let method: String
    /// The header fields, in order.
    let headers: [(name: String, value: String)]
    /// Default fields that must not be sent.
    let omitted: Set<String>
    /// Names of fields that a session has kept for the URL's origin and that may hold a secret: they are sent to no other origin.
    let boundFields: Set<String>
    let body: MessageBody
    let credentials: Credentials?
    let usesDigest: Bool

    /// The request for the library.
    var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers {
            if request.value(forHTTPHeaderField: name) == nil {
                request.setValue(value, forHTTPHeaderField: name)
            } else {
                request.addValue(value, forHTTPHeaderField: name)
            }
        }
        switch body {
        case .none: break
        case .data(let data): request.httpBody = data
        case .file(let path, let count):
            if bodyFile == nil {
                request.httpBody = try? Data(contentsOf: URL(fileURLWithPath: path))
            } else {
                request.setValue("\(count)", forHTTPHeaderField: "Content-Length")
            }
        case .standardInput(let path): request.httpBodyStream = InputStream(fileAtPath: path)
        }
        return request
    }

    /// The file that is sent instead of a body in the request.
    var bodyFile: URL? {
        guard case .file(let path, let count) = body, count > Self.largestInMemory else { return nil }
        return URL(fileURLWithPath: path)
    }

    /// Returns the plan with more header fields, which replace those with the same name.
    func adding(_ more: [(name: String, value: String)]) -> RequestPlan {
        let names = Set(more.map { $0.name.lowercased() })
        return RequestPlan(
            typed: typed, url: url, method: method,
            headers: headers.filter { !names.contains($0.name.lowercased()) } + more, omitted: omitted,
            boundFields: boundFields, body: body,
            credentials: credentials, usesDigest: usesDigest)
    }
}

/// Makes plans. The body is read once for all URLs of a command line.
struct RequestPlanner {
    let invocation: Invocation
    let context: ProcessContext
    let content: RequestContent
    /// Header fields that the user's session has kept for a URL's origin.
    var remembered: @Sendable (URL) -> [(name: String, value: String)] = { _ in [] }
    /// Whether cookies are sent as a field, since there is no storage for them.
    var sendsCookiesAsField = true

    func plan(for typed: String) throws -> RequestPlan {
        var address = try Address(typed, scheme: invocation.defaultScheme)
        if !invocation.keepsDotSegments { address.removeDots() }
        if let file = invocation.upload, file != "-", address.text.hasSuffix("/") {
            address.text += PercentEncoding.encoded(String(file.split(separator: "/").last ?? ""))
        }
        address.add(content.query)
        if let query = content.rawQuery { address.addQuery(query) }
        let url = try address.url()
        guard invocation.protocols.contains(url.scheme) else {
            throw CommandFailure(
                .malformedURL,
                "Will not load \(ShownAddress.text(address.text)): --proto does not allow its scheme.")
        }
        let edits = try HeaderEdits(invocation, context)
        let method = invocation.method ?? standardMethod
        let credentials = try credentials(for: url, in: address)
        var headers = defaults(method)
        let kept = remembered(url)
        for (name, value) in kept { HeaderEdits.set(name, value, in: &headers) }
        if sendsCookiesAsField {
            let pairs = invocation.cookies.filter { $0.contains("=") }
            if !pairs.isEmpty { HeaderEdits.set("Cookie", pairs.joined(separator: "; "), in: &headers) }
        }
        if let token = invocation.token {
            HeaderEdits.set("Authorization", "Bearer \(token)", in: &headers)
        } else if let credentials, !invocation.usesDigest {
            HeaderEdits.set("Authorization", credentials.basic, in: &headers)
        }
        for (name, value) in try conditions() { HeaderEdits.set(name, value, in: &headers) }
        edits.apply(to: &headers)
        // The library would add `Accept-Language` to every request.
        var omitted = edits.removed.union(["Accept-Language"])
        if invocation.userAgent == "" { omitted.insert("User-Agent") }
        let hasType = headers.contains { $0.name.lowercased() == "content-type" }
        if !hasType, !content.body.isNone { omitted.insert("Content-Type") }
        return RequestPlan(
            typed: typed, url: url, method: method, headers: headers, omitted: omitted,
            boundFields: Set(kept.map(\.name).filter { !UserSession.isHarmless($0) }), body: content.body,
            credentials: credentials,
            usesDigest: invocation.usesDigest)
    }

    /// The method if the command line names none.
    private var standardMethod: String {
        if invocation.asksForHead { return "HEAD" }
        if invocation.upload != nil { return "PUT" }
        return content.body.isNone ? "GET" : "POST"
    }

    /// The fields that are sent unless a session or an option replaces them.
    private func defaults(_ method: String) -> [(name: String, value: String)] {
        var headers = [
            (name: "User-Agent", value: invocation.userAgent ?? "lupine/\(AFInfo.version)"),
            (
                name: "Accept",
                value: invocation.followsEvents
                    ? "text/event-stream"
                    : invocation.acceptsJSONAlone
                        ? "application/json" : content.wantsJSON ? "application/json, */*;q=0.5" : "*/*"
            ),
        ]
        if invocation.userAgent == "" { headers.removeFirst() }
        if let referer = invocation.referer, !referer.isEmpty { headers.append(("Referer", referer)) }
        if let type = content.type { headers.append(("Content-Type", type)) }
        return headers
    }

    /// The fields of -r, -z and --etag-compare.
    private func conditions() throws -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let range = invocation.range {
            fields.append(("Range", "bytes=\(range)"))
            // A range of a coded body is not a range of the decoded body.
            if !invocation.keepsEncoding { fields.append(("Accept-Encoding", "identity")) }
        }
        if let typed = invocation.timeCondition {
            let isReversed = typed.hasPrefix("-")
            let text = isReversed ? String(typed.dropFirst()) : typed
            if let date = DateText.date(text) ?? changed(text) {
                let name = isReversed ? "If-Unmodified-Since" : "If-Modified-Since"
                fields.append((name, DateText.http(date)))
            } else if !invocation.isSilent {
                context.errors.say("lupine: \(text) is no date and no file: -z asks for all\n")
            }
        }
        if let file = invocation.etagToCompare,
            let data = try? Data(contentsOf: URL(fileURLWithPath: context.path(file)))
        {
            let line = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
            let tag = line.trimmingCharacters(in: .whitespaces)
            if !tag.isEmpty { fields.append(("If-None-Match", tag)) }
        }
        return fields
    }

    /// The modification date of a file; nil if there is none.
    private func changed(_ file: String) -> Date? {
        let values = try? FileManager.default.attributesOfItem(atPath: context.path(file))
        return values?[.modificationDate] as? Date
    }

    /// The credentials of -u, the URL, or the .netrc file if an option asks for it, in this order. None if a token is given.
    private func credentials(for url: URL, in address: Address) throws -> Credentials? {
        if invocation.token != nil { return nil }
        if let user = invocation.user { return Credentials(user) }
        if let credentials = address.credentials { return credentials }
        guard invocation.readsNetrc else { return nil }
        let path = invocation.netrcFile ?? context.environment["NETRC"] ?? context.home + "/.netrc"
        if invocation.netrcIsOptional, !FileManager.default.fileExists(atPath: context.path(path)) {
            return nil
        }
        let data: Data
        do { data = try PrivateFile.read(context.path(path)) } catch {
            throw CommandFailure.unreadable(path, error)
        }
        return NetrcFile(String(decoding: data, as: UTF8.self)).credentials(for: url.host ?? "")
    }
}

/// A URL as typed.
struct Address: Sendable {
    /// The URL without user, password and fragment.
    var text: String
    /// User and password in the URL.
    let credentials: Credentials?

    /// Parses `host`, `host/path`, `:8080/path` (localhost), `//host`, or a URL with a scheme.
    init(_ typed: String, scheme standard: String = "http") throws {
        var text = typed
        let isData = typed.lowercased().hasPrefix("data:")
        if typed.hasPrefix("//") {
            text = "\(standard):" + typed
        } else if typed.hasPrefix(":") {
            let rest = typed.dropFirst()
            let port = rest.prefix { $0.isNumber }
            text = "\(standard)://localhost" + (port.isEmpty ? "" : ":\(port)") + rest.dropFirst(port.count)
        } else if !isData, let colon = ShownAddress.schemeEnd(of: typed) {
            let scheme = typed[..<colon.lowerBound].lowercased()
            guard ["http", "https", "ws", "wss", "file"].contains(scheme) else {
                throw CommandFailure(
                    .malformedURL,
                    "Cannot load \(ShownAddress.text(typed)): there is nothing here that speaks \(scheme). Use an http, https, ws, wss or file URL."
                )
            }
        } else if !isData {
            text = "\(standard)://" + typed
        }
        if let hash = text.firstIndex(of: "#") { text = String(text[..<hash]) }
        guard !isData, let slashes = text.range(of: "://") else {
            self.text = text
            credentials = nil
            return
        }
        let rest = text[slashes.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if let at = authority.lastIndex(of: "@") {
            let halves = authority[..<at].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let plain = halves.map { String($0).removingPercentEncoding ?? String($0) }
            credentials = Credentials(user: plain[0], password: plain.count == 2 ? plain[1] : "")
            text =
                String(text[..<slashes.upperBound]) + String(authority[authority.index(after: at)...])
                + String(rest[authority.endIndex...])
        } else {
            credentials = nil
        }
        self.text = text
    }

    /// Removes `/./` and `/../` from the path (RFC 3986 §5.2.4).
    mutating func removeDots() {
        guard text.contains("/."), let slashes = text.range(of: "://"), !text.lowercased().hasPrefix("file:"),
            let start = text[slashes.upperBound...].firstIndex(where: { $0 == "/" || $0 == "?" }),
            text[start] == "/"
        else { return }
        let end = text[start...].firstIndex(of: "?") ?? text.endIndex
        let parts = text[text.index(after: start)..<end].split(
            separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for part in parts {
            switch part {
            case ".": break
            case "..": kept = kept.dropLast()
            default: kept.append(part)
            }
        }
        if let last = parts.last, last == "." || last == ".." { kept.append("") }
        text = text[..<start] + "/" + kept.joined(separator: "/") + text[end...]
    }

    /// Encodes parameters and adds them to the query.
    mutating func add(_ pairs: [(name: String, value: String?)]) {
        for (name, value) in pairs {
            let encoded =
                PercentEncoding.encoded(name) + (value.map { "=" + PercentEncoding.encoded($0) } ?? "")
            addQuery(encoded)
        }
    }

    /// Adds encoded text to the query.
    mutating func addQuery(_ query: String) {
        if let mark = text.firstIndex(of: "?") {
            text += text.index(after: mark) == text.endIndex ? query : "&\(query)"
        } else {
            let authority = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
            text += (authority.contains("/") ? "?" : "/?") + query
        }
    }

    func url() throws -> URL {
        guard let url = URL(string: text), url.isFileURL || url.scheme == "data" || !(url.host ?? "").isEmpty
        else {
            throw CommandFailure(
                .malformedURL,
                "Cannot read \(ShownAddress.text(text)) as a URL. Check for blanks and odd characters in the host; quote the URL for the shell."
            )
        }
        return url
    }
}

/// The changes to the header fields by `-H` and items.
struct HeaderEdits: Sendable {
    private var fields: [(name: String, value: String)] = []
    private(set) var removed: Set<String> = []

    init(_ invocation: Invocation, _ context: ProcessContext) throws {
        for line in invocation.headers {
            guard line.hasPrefix("@") else {
                take(line)
                continue
            }
            let path = context.path(String(line.dropFirst()))
            guard let text = try? String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8) else {
                throw CommandFailure.unreadable(String(line.dropFirst()), nil)
            }
            for line in text.split(whereSeparator: \.isNewline) { take(String(line)) }
        }
        for item in invocation.items {
            switch item {
            case .header(let name, let value): fields.append((name, value))
            case .withoutHeader(let name): removed.insert(name)
            case .emptyHeader(let name): fields.append((name, ""))
            case .query, .field, .json, .file, .textFile, .jsonFile: break
            }
        }
    }

    private mutating func take(_ line: String) {
        if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop(while: { $0 == " " })
            if value.isEmpty {
                removed.insert(String(line[..<colon]))
            } else {
                fields.append((String(line[..<colon]), String(value)))
            }
        } else if line.hasSuffix(";") {
            fields.append((String(line.dropLast()), ""))
        }
    }

    /// The user's fields replace default ones of the same name; two user fields of one name are both sent.
    func apply(to headers: inout [(name: String, value: String)]) {
        let names = Set(fields.map { $0.name.lowercased() }).union(removed.map { $0.lowercased() })
        headers.removeAll { names.contains($0.name.lowercased()) }
        headers += fields
    }

    /// Replaces all fields of that name with one.
    static func set(_ name: String, _ value: String, in headers: inout [(name: String, value: String)]) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append((name, value))
    }
}
