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
    /// Fields that the library sends by default and that this request must not have.
    let omitted: Set<String>
    /// The names of fields that the user's session (`--session`) keeps for the URL's origin and that may hold a secret. They are
    /// sent to no other origin.
    let boundFields: Set<String>
    let body: MessageBody
    let credentials: Credentials?
    let usesDigest: Bool

    /// The request that is passed to the library.
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

    /// The file that is sent instead of a body in the request, if the body is a large file.
    var bodyFile: URL? {
        guard case .file(let path, let count) = body, count > Self.largestInMemory else { return nil }
        return URL(fileURLWithPath: path)
    }

    /// Returns the plan with more header fields, which replace those with the same name.
    func adding(_ fields: [(name: String, value: String)]) -> RequestPlan {
        let names = Set(fields.map { $0.name.lowercased() })
        return RequestPlan(
            typed: typed, url: url, method: method,
            headers: headers.filter { !names.contains($0.name.lowercased()) } + fields, omitted: omitted,
            boundFields: boundFields, body: body,
            credentials: credentials, usesDigest: usesDigest)
    }
}

/// Makes the plans of a command line's URLs, which all have the same content.
struct RequestPlanner {
    let invocation: Invocation
    let context: ProcessContext
    let content: RequestContent
    /// Returns the header fields that the user's session keeps for a URL's origin.
    var storedFields: @Sendable (URL) -> [(name: String, value: String)] = { _ in [] }
    /// Whether the cookies of `-b a=b` are sent as a header field, because there is no cookie storage.
    var sendsCookiesAsField = true

    /// Makes the plan for a URL as typed. Throws if the URL cannot be loaded, or if a file that an option names cannot be read.
    func plan(for typed: String) throws -> RequestPlan {
        var address = try Address(typed, scheme: invocation.defaultScheme)
        if !invocation.keepsDotSegments { address.removeDotSegments() }
        if let file = invocation.uploadFile, file != "-", address.text.hasSuffix("/") {
            address.text += PercentEncoding.encoded(String(file.split(separator: "/").last ?? ""))
        }
        address.addParameters(content.query)
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
        var headers = defaultFields
        let stored = storedFields(url)
        for (name, value) in stored { HeaderEdits.set(name, value, in: &headers) }
        if sendsCookiesAsField {
            let pairs = invocation.cookies.filter { $0.contains("=") }
            if !pairs.isEmpty { HeaderEdits.set("Cookie", pairs.joined(separator: "; "), in: &headers) }
        }
        if let token = invocation.token {
            HeaderEdits.set("Authorization", "Bearer \(token)", in: &headers)
        } else if let credentials, !invocation.usesDigest {
            HeaderEdits.set("Authorization", credentials.basicAuthorization, in: &headers)
        }
        for (name, value) in try conditionalFields() { HeaderEdits.set(name, value, in: &headers) }
        edits.apply(to: &headers)
        // The library would add `Accept-Language` to every request.
        var omitted = edits.removed.union(["Accept-Language"])
        if invocation.userAgent == "" { omitted.insert("User-Agent") }
        let hasType = headers.contains { $0.name.lowercased() == "content-type" }
        if !hasType, !content.body.isNone { omitted.insert("Content-Type") }
        return RequestPlan(
            typed: typed, url: url, method: method, headers: headers, omitted: omitted,
            boundFields: Set(stored.map(\.name).filter { !UserSession.isHarmless($0) }), body: content.body,
            credentials: credentials,
            usesDigest: invocation.usesDigest)
    }

    /// The method if the command line names none.
    private var standardMethod: String {
        if invocation.asksForHead { return "HEAD" }
        if invocation.uploadFile != nil { return "PUT" }
        return content.body.isNone ? "GET" : "POST"
    }

    /// The fields that are sent unless the user's session or an option replaces them.
    private var defaultFields: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        let userAgent = invocation.userAgent ?? "lupine/\(AFInfo.version)"
        if !userAgent.isEmpty { headers.append(("User-Agent", userAgent)) }
        headers.append(("Accept", acceptedTypes))
        if let referer = invocation.referer, !referer.isEmpty { headers.append(("Referer", referer)) }
        if let type = content.type { headers.append(("Content-Type", type)) }
        return headers
    }

    /// The value of `Accept`.
    private var acceptedTypes: String {
        if invocation.followsEvents { return "text/event-stream" }
        if invocation.acceptsJSONAlone { return "application/json" }
        return content.wantsJSON ? "application/json, */*;q=0.5" : "*/*"
    }

    /// Returns the fields of -r, -z and --etag-compare.
    private func conditionalFields() throws -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let range = invocation.range {
            fields.append(("Range", "bytes=\(range)"))
            // A range of a coded body is not a range of the decoded body.
            if !invocation.keepsEncoding { fields.append(("Accept-Encoding", "identity")) }
        }
        if let typed = invocation.timeCondition {
            let isReversed = typed.hasPrefix("-")
            let text = isReversed ? String(typed.dropFirst()) : typed
            if let date = DateText.date(text) ?? modificationDate(of: text) {
                let name = isReversed ? "If-Unmodified-Since" : "If-Modified-Since"
                fields.append((name, DateText.http(date)))
            } else if !invocation.isSilent {
                context.errors.say("lupine: \(text) is no date and no file: -z asks for all\n")
            }
        }
        if let file = invocation.etagCompareFile,
            let data = try? Data(contentsOf: URL(fileURLWithPath: context.path(file)))
        {
            let line = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
            let tag = line.trimmingCharacters(in: .whitespaces)
            if !tag.isEmpty { fields.append(("If-None-Match", tag)) }
        }
        return fields
    }

    /// Returns the modification date of a file; nil if the file does not exist.
    private func modificationDate(of file: String) -> Date? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: context.path(file))
        return attributes?[.modificationDate] as? Date
    }

    /// Returns the credentials of -u, else of the URL, else of the .netrc file if an option asks for it. Nil if a token is given.
    private func credentials(for url: URL, in address: Address) throws -> Credentials? {
        if invocation.token != nil { return nil }
        if let user = invocation.user { return Credentials(user) }
        if let credentials = address.credentials { return credentials }
        guard invocation.readsNetrc else { return nil }
        let path = invocation.netrcFile ?? context.environment["NETRC"] ?? context.home + "/.netrc"
        if invocation.isNetrcOptional, !FileManager.default.fileExists(atPath: context.path(path)) {
            return nil
        }
        let data: Data
        do { data = try PrivateFile.read(context.path(path)) } catch {
            throw CommandFailure.unreadable(path, error)
        }
        return NetrcFile(String(decoding: data, as: UTF8.self)).credentials(for: url.host ?? "")
    }
}

/// A URL that the user has typed, which may lack the scheme or the host.
struct Address: Sendable {
    /// The URL without user, password and fragment.
    var text: String
    /// The user and the password of the URL.
    let credentials: Credentials?

    /// Parses `host`, `host/path`, `:8080/path` (localhost), `//host`, or a URL with a scheme.
    init(_ typed: String, scheme defaultScheme: String = "http") throws {
        var text = typed
        let isData = typed.lowercased().hasPrefix("data:")
        if typed.hasPrefix("//") {
            text = "\(defaultScheme):" + typed
        } else if typed.hasPrefix(":") {
            let portAndPath = typed.dropFirst()
            let port = portAndPath.prefix { $0.isNumber }
            text = "\(defaultScheme)://localhost" + (port.isEmpty ? "" : ":\(port)")
            text += String(portAndPath.dropFirst(port.count))
        } else if !isData, let colon = ShownAddress.schemeEnd(of: typed) {
            let scheme = typed[..<colon.lowerBound].lowercased()
            guard ["http", "https", "ws", "wss", "file"].contains(scheme) else {
                throw CommandFailure(
                    .malformedURL,
                    "Cannot load \(ShownAddress.text(typed)): there is nothing here that speaks \(scheme). Use an http, https, ws, wss or file URL."
                )
            }
        } else if !isData {
            text = "\(defaultScheme)://" + typed
        }
        if let hash = text.firstIndex(of: "#") { text = String(text[..<hash]) }
        guard !isData, let slashes = text.range(of: "://") else {
            self.text = text
            credentials = nil
            return
        }
        let hierarchicalPart = text[slashes.upperBound...]
        let authority = hierarchicalPart.prefix { $0 != "/" && $0 != "?" }
        if let at = authority.lastIndex(of: "@") {
            let halves = authority[..<at].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = halves.map { String($0).removingPercentEncoding ?? String($0) }
            credentials = Credentials(user: decoded[0], password: decoded.count == 2 ? decoded[1] : "")
            text =
                String(text[..<slashes.upperBound]) + String(authority[authority.index(after: at)...])
                + String(hierarchicalPart[authority.endIndex...])
        } else {
            credentials = nil
        }
        self.text = text
    }

    /// Removes the segments `.` and `..` from the path (RFC 3986 §5.2.4).
    mutating func removeDotSegments() {
        guard text.contains("/."), let slashes = text.range(of: "://"), !text.lowercased().hasPrefix("file:"),
            let start = text[slashes.upperBound...].firstIndex(where: { $0 == "/" || $0 == "?" }),
            text[start] == "/"
        else { return }
        let end = text[start...].firstIndex(of: "?") ?? text.endIndex
        let segments = text[text.index(after: start)..<end].split(
            separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for segment in segments {
            switch segment {
            case ".": break
            case "..": kept = kept.dropLast()
            default: kept.append(segment)
            }
        }
        if let last = segments.last, last == "." || last == ".." { kept.append("") }
        text = text[..<start] + "/" + kept.joined(separator: "/") + text[end...]
    }

    /// Encodes parameters and adds them to the query.
    mutating func addParameters(_ parameters: [(name: String, value: String?)]) {
        for (name, value) in parameters {
            let encoded =
                PercentEncoding.encoded(name) + (value.map { "=" + PercentEncoding.encoded($0) } ?? "")
            addQuery(encoded)
        }
    }

    /// Adds text that is encoded already to the query.
    mutating func addQuery(_ query: String) {
        if let questionMark = text.firstIndex(of: "?") {
            text += text.index(after: questionMark) == text.endIndex ? query : "&\(query)"
        } else {
            let authority = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
            text += (authority.contains("/") ? "?" : "/?") + query
        }
    }

    /// Returns the URL; throws if the text is not a URL with a host.
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

/// The header fields that `-H` and items add or remove.
struct HeaderEdits: Sendable {
    private var fields: [(name: String, value: String)] = []
    /// The names of the fields that must not be sent.
    private(set) var removed: Set<String> = []

    init(_ invocation: Invocation, _ context: ProcessContext) throws {
        for line in invocation.headers {
            guard line.hasPrefix("@") else {
                add(line)
                continue
            }
            let path = context.path(String(line.dropFirst()))
            guard let text = try? String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8) else {
                throw CommandFailure.unreadable(String(line.dropFirst()), nil)
            }
            for line in text.split(whereSeparator: \.isNewline) { add(String(line)) }
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

    /// Adds a line of `-H`: `Name: value`, `Name:`, which removes the field, or `Name;`, a field without a value.
    private mutating func add(_ line: String) {
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

    /// Applies the changes. The user's fields replace the given ones of the same name; two fields of the user with one name are
    /// both sent.
    func apply(to headers: inout [(name: String, value: String)]) {
        let names = Set(fields.map { $0.name.lowercased() }).union(removed.map { $0.lowercased() })
        headers.removeAll { names.contains($0.name.lowercased()) }
        headers += fields
    }

    /// Replaces all fields of this name with one.
    static func set(_ name: String, _ value: String, in headers: inout [(name: String, value: String)]) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append((name, value))
    }
}
