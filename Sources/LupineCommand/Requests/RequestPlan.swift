// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// One complete request of a command line, for one URL, with its credentials. `RequestPlanner` makes it.
struct RequestPlan: Sendable {
    /// The maximum bytes of a file that is read into memory before it is sent (8 MiB). Longer files are read while they are sent.
    static let maximumLengthInMemory: Int64 = 8 << 20

    /// The URL as typed.
    let typedURL: String
    /// The URL to load, with all query parameters and without credentials.
    let url: URL
    let method: String
    /// The header fields, in order.
    let headers: [(name: String, value: String)]
    /// The names of fields that the library must not add by default. `headers` may still contain them.
    let omittedFields: Set<String>
    /// The names of fields that come from the user's session (`--session`) and may hold a secret. A redirect to another origin
    /// does not send them.
    let originBoundFields: Set<String>
    let body: MessageBody
    /// The user name and the password; nil if the request has none or a bearer token.
    let credentials: Credentials?
    /// Whether the credentials are sent only as the answer to a challenge: for Digest, and for --anyauth.
    let usesDigest: Bool

    /// The request that is passed to the library. A long file is not part of it: see `bodyFile`.
    var request: URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers {
            // Several fields of one name become one field with several values.
            if request.value(forHTTPHeaderField: name) == nil {
                request.setValue(value, forHTTPHeaderField: name)
            } else {
                request.addValue(value, forHTTPHeaderField: name)
            }
        }
        switch body {
        case .none: break
        case .data(let data): request.httpBody = data
        case .file(let path, let length):
            if bodyFile == nil {
                // `ContentBuilder` has checked the file. If it cannot be read any more, the request has no body.
                request.httpBody = try? Data(contentsOf: URL(fileURLWithPath: path))
            } else {
                // The content is not in the request, so the library cannot find its length there.
                request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            }
        case .standardInput(let path): request.httpBodyStream = InputStream(fileAtPath: path)
        }
        return request
    }

    /// The file whose content is sent while it is read; nil unless the body is a long file.
    var bodyFile: URL? {
        guard case .file(let path, let length) = body, length > Self.maximumLengthInMemory else {
            return nil
        }
        return URL(fileURLWithPath: path)
    }

    /// Returns the plan with these header fields added. They replace fields of the same name.
    func adding(_ fields: [(name: String, value: String)]) -> RequestPlan {
        let names = Set(fields.map { $0.name.lowercased() })
        return RequestPlan(
            typedURL: typedURL, url: url, method: method,
            headers: headers.filter { !names.contains($0.name.lowercased()) } + fields,
            omittedFields: omittedFields,
            originBoundFields: originBoundFields, body: body,
            credentials: credentials, usesDigest: usesDigest)
    }
}

/// Makes the plans for the URLs of a command line. All requests have the same content.
struct RequestPlanner {
    let invocation: Invocation
    let context: ProcessContext
    let content: RequestContent
    /// Returns the header fields that the user's session (`--session`) keeps for a URL's origin.
    var storedFields: @Sendable (URL) -> [(name: String, value: String)] = { _ in [] }
    /// Whether the request has the cookies of `-b a=b` in a `Cookie` field. False if a cookie storage has them: then the library
    /// adds the field.
    var sendsCookiesAsField = true

    /// Returns the plan for a URL as typed. Throws if the URL cannot be loaded, or if a file that an option names cannot be read.
    func plan(for typedURL: String) throws -> RequestPlan {
        var address = try Address(typedURL, scheme: invocation.defaultScheme)
        if !invocation.keepsDotSegments { address.removeDotSegments() }
        // A URL that ends in a slash is a folder, to which the name of the uploaded file is added.
        if let file = invocation.uploadFile, file != "-", address.text.hasSuffix("/") {
            address.text += PercentEncoding.encoded(String(file.split(separator: "/").last ?? ""))
        }
        address.addParameters(content.queryParameters)
        if let query = content.encodedQuery { address.addQuery(query) }
        let url = try address.url()
        guard invocation.protocols.contains(url.scheme) else {
            throw CommandFailure(
                .malformedURL,
                "Will not load \(ShownAddress.text(address.text)): --proto does not allow its scheme.")
        }
        let edits = try HeaderEdits(invocation, context)
        let method = invocation.method ?? defaultMethod
        let credentials = try credentials(for: url, in: address)
        // Later fields replace earlier ones of the same name; the fields of -H and of items come last.
        var headers = defaultFields
        let sessionFields = storedFields(url)
        for (name, value) in sessionFields { HeaderEdits.set(name, value, in: &headers) }
        if sendsCookiesAsField {
            // A value without an equals sign is a file, which `CookieMemory` reads.
            let pairs = invocation.cookies.filter { $0.contains("=") }
            if !pairs.isEmpty { HeaderEdits.set("Cookie", pairs.joined(separator: "; "), in: &headers) }
        }
        if let token = invocation.token {
            HeaderEdits.set("Authorization", "Bearer \(token)", in: &headers)
        } else if let credentials, !invocation.usesDigest {
            HeaderEdits.set("Authorization", credentials.basicAuthorization, in: &headers)
        }
        for (name, value) in conditionalFields() { HeaderEdits.set(name, value, in: &headers) }
        edits.apply(to: &headers)
        // The library would add `Accept-Language` to every request. The user can still add it.
        var omittedFields = edits.removedNames.union(["Accept-Language"])
        // -A with an empty value sends no `User-Agent`.
        if invocation.userAgent == "" { omittedFields.insert("User-Agent") }
        // If neither the user nor the content gives a type, the library would add that of a form.
        let hasContentType = headers.contains { $0.name.lowercased() == "content-type" }
        if !hasContentType, !content.body.isNone { omittedFields.insert("Content-Type") }
        return RequestPlan(
            typedURL: typedURL, url: url, method: method, headers: headers, omittedFields: omittedFields,
            originBoundFields: Set(sessionFields.map(\.name).filter { !UserSession.isHarmless($0) }),
            body: content.body,
            credentials: credentials,
            usesDigest: invocation.usesDigest)
    }

    /// The method if the command line names none.
    private var defaultMethod: String {
        if invocation.asksForHead { return "HEAD" }
        if invocation.uploadFile != nil { return "PUT" }
        return content.body.isNone ? "GET" : "POST"
    }

    /// The header fields that are sent unless the user's session, `-H` or an item replaces or removes them.
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
        return content.prefersJSON ? "application/json, */*;q=0.5" : "*/*"
    }

    /// Returns the header fields of -r, -z and --etag-compare, which request a part of the content, or content that has changed.
    private func conditionalFields() -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if let range = invocation.range {
            fields.append(("Range", "bytes=\(range)"))
            // A part of coded content cannot be decoded. With --raw-encoding it is not decoded anyway.
            if !invocation.keepsEncoding { fields.append(("Accept-Encoding", "identity")) }
        }
        if let condition = invocation.timeCondition {
            // With a minus sign in front, only older content is requested.
            let isInverted = condition.hasPrefix("-")
            let dateOrFile = isInverted ? String(condition.dropFirst()) : condition
            if let date = DateText.date(dateOrFile) ?? modificationDate(of: dateOrFile) {
                let name = isInverted ? "If-Unmodified-Since" : "If-Modified-Since"
                fields.append((name, DateText.http(date)))
            } else if !invocation.isSilent {
                context.errors.say("lupine: \(dateOrFile) is no date and no file: -z asks for all\n")
            }
        }
        // The file does not exist before --etag-save has written it: then there is no condition.
        if let file = invocation.etagCompareFile,
            let data = try? Data(contentsOf: URL(fileURLWithPath: context.path(file)))
        {
            let firstLine =
                String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
            let etag = firstLine.trimmingCharacters(in: .whitespaces)
            if !etag.isEmpty { fields.append(("If-None-Match", etag)) }
        }
        return fields
    }

    /// Returns the modification date of a file as typed; nil if it cannot be read, mostly because the file does not exist.
    private func modificationDate(of file: String) -> Date? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: context.path(file))
        return attributes?[.modificationDate] as? Date
    }

    /// Returns the credentials of -u, else of the URL, else of the .netrc file if an option asks for it. Nil if a bearer token is
    /// given.
    ///
    /// - Parameters:
    ///   - url: The URL, whose host is looked up in the file.
    ///   - address: The same URL as typed, with its credentials.
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

    /// Parses `host`, `host/path`, `:8080/path` (localhost), `//host`, or a URL with a scheme. Throws if the command cannot load
    /// the scheme.
    ///
    /// - Parameters:
    ///   - typedURL: The URL as typed.
    ///   - defaultScheme: The scheme if the URL has none.
    init(_ typedURL: String, scheme defaultScheme: String = "http") throws {
        var text = typedURL
        let isData = typedURL.lowercased().hasPrefix("data:")
        if typedURL.hasPrefix("//") {
            text = "\(defaultScheme):" + typedURL
        } else if typedURL.hasPrefix(":") {
            let portAndPath = typedURL.dropFirst()
            let port = portAndPath.prefix { $0.isNumber }
            text = "\(defaultScheme)://localhost" + (port.isEmpty ? "" : ":\(port)")
            text += String(portAndPath.dropFirst(port.count))
        } else if !isData, let schemeEnd = ShownAddress.schemeEnd(of: typedURL) {
            let scheme = typedURL[..<schemeEnd.lowerBound].lowercased()
            guard ["http", "https", "ws", "wss", "file"].contains(scheme) else {
                throw CommandFailure(
                    .malformedURL,
                    "Cannot load \(ShownAddress.text(typedURL)): there is nothing here that speaks \(scheme). Use an http, https, ws, wss or file URL."
                )
            }
        } else if !isData {
            text = "\(defaultScheme)://" + typedURL
        }
        if let hash = text.firstIndex(of: "#") { text = String(text[..<hash]) }
        guard !isData, let schemeEnd = text.range(of: "://") else {
            self.text = text
            credentials = nil
            return
        }
        let hierarchicalPart = text[schemeEnd.upperBound...]
        let authority = hierarchicalPart.prefix { $0 != "/" && $0 != "?" }
        if let atSign = authority.lastIndex(of: "@") {
            let userAndPassword = authority[..<atSign].split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let decoded = userAndPassword.map { String($0).removingPercentEncoding ?? String($0) }
            credentials = Credentials(user: decoded[0], password: decoded.count == 2 ? decoded[1] : "")
            text =
                String(text[..<schemeEnd.upperBound])
                + String(authority[authority.index(after: atSign)...])
                + String(hierarchicalPart[authority.endIndex...])
        } else {
            credentials = nil
        }
        self.text = text
    }

    /// Removes the segments `.` and `..` from the path (RFC 3986 §5.2.4). Does nothing for a file URL.
    mutating func removeDotSegments() {
        // Without `/.` there is no dot segment. If a `?` comes before the first slash, the URL has no path.
        guard text.contains("/."), let schemeEnd = text.range(of: "://"),
            !text.lowercased().hasPrefix("file:"),
            let pathStart = text[schemeEnd.upperBound...].firstIndex(where: { $0 == "/" || $0 == "?" }),
            text[pathStart] == "/"
        else { return }
        let pathEnd = text[pathStart...].firstIndex(of: "?") ?? text.endIndex
        let segments = text[text.index(after: pathStart)..<pathEnd].split(
            separator: "/", omittingEmptySubsequences: false)
        var output: [Substring] = []
        for segment in segments {
            switch segment {
            case ".": break
            // Unlike `removeLast`, `dropLast` accepts an empty array.
            case "..": output = output.dropLast()
            default: output.append(segment)
            }
        }
        // A path that ends in a dot segment is a folder: it keeps the slash at its end.
        if let last = segments.last, last == "." || last == ".." { output.append("") }
        text = text[..<pathStart] + "/" + output.joined(separator: "/") + text[pathEnd...]
    }

    /// Percent-encodes parameters and adds them to the query.
    mutating func addParameters(_ parameters: [(name: String, value: String?)]) {
        for (name, value) in parameters {
            let encoded =
                PercentEncoding.encoded(name) + (value.map { "=" + PercentEncoding.encoded($0) } ?? "")
            addQuery(encoded)
        }
    }

    /// Adds text to the query without encoding it.
    mutating func addQuery(_ query: String) {
        if let questionMark = text.firstIndex(of: "?") {
            let hasEmptyQuery = text.index(after: questionMark) == text.endIndex
            text += hasEmptyQuery ? query : "&\(query)"
        } else {
            let hierarchicalPart = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
            let hasPath = hierarchicalPart.contains("/")
            // The query follows a path, if only a slash.
            text += (hasPath ? "?" : "/?") + query
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
    /// The fields to add, in order.
    private var fields: [(name: String, value: String)] = []
    /// The names of the fields that must not be sent, as typed.
    private(set) var removedNames: Set<String> = []

    /// Collects the fields of `-H` and of items. Throws if a file of `-H @FILE` cannot be read.
    init(_ invocation: Invocation, _ context: ProcessContext) throws {
        for line in invocation.headerLines {
            guard line.hasPrefix("@") else {
                add(line)
                continue
            }
            let path = context.path(String(line.dropFirst()))
            guard let text = try? String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8) else {
                // Nil: `try?` has dropped the reason.
                throw CommandFailure.unreadable(String(line.dropFirst()), nil)
            }
            for fileLine in text.split(whereSeparator: \.isNewline) { add(String(fileLine)) }
        }
        for item in invocation.items {
            switch item {
            case .header(let name, let value): fields.append((name, value))
            case .withoutHeader(let name): removedNames.insert(name)
            case .emptyHeader(let name): fields.append((name, ""))
            case .query, .field, .json, .file, .textFile, .jsonFile: break
            }
        }
    }

    /// Adds a line of `-H`: `Name: value`, `Name:`, which removes the field, or `Name;`, a field with an empty value. Ignores
    /// other lines, which a file may have.
    private mutating func add(_ line: String) {
        if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].drop(while: { $0 == " " })
            if value.isEmpty {
                removedNames.insert(String(line[..<colon]))
            } else {
                fields.append((String(line[..<colon]), String(value)))
            }
        } else if line.hasSuffix(";") {
            fields.append((String(line.dropLast()), ""))
        }
    }

    /// Applies the removals and additions to `headers`. A field of the user replaces the fields of the same name in `headers`.
    /// If the user gives several fields of one name, all are added.
    func apply(to headers: inout [(name: String, value: String)]) {
        let names = Set(fields.map { $0.name.lowercased() }).union(removedNames.map { $0.lowercased() })
        headers.removeAll { names.contains($0.name.lowercased()) }
        headers += fields
    }

    /// Replaces all fields of this name in `headers` with one.
    static func set(_ name: String, _ value: String, in headers: inout [(name: String, value: String)]) {
        headers.removeAll { $0.name.lowercased() == name.lowercased() }
        headers.append((name, value))
    }
}
