// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The curl command line that sends the same request as a plan (`--to-curl`), quoted for a POSIX shell. Secrets are hidden unless
/// the user asks for them.
struct CurlLine: Sendable {
    /// The text that replaces a secret.
    static let secretPlaceholder = "***"

    /// The command as one line.
    let text: String

    /// Creates the command for a plan.
    ///
    /// - Parameters:
    ///   - plan: The request.
    ///   - invocation: The options.
    ///   - context: The context, whose current directory is the base of relative file names.
    ///   - cookies: The cookies that would be sent.
    init(_ plan: RequestPlan, _ invocation: Invocation, _ context: ProcessContext, cookies: [HTTPCookie]) {
        var words = ["curl"] + Self.methodOptions(plan) + Self.fieldOptions(plan, invocation)
        if let credentials = plan.credentials {
            if plan.usesDigest { words.append(invocation.authType == .any ? "--anyauth" : "--digest") }
            words += ["-u", "\(credentials.user):\(Self.shownSecret(credentials.password, invocation))"]
        }
        if !cookies.isEmpty {
            let pairs = cookies.map { "\($0.name)=\(Self.shownSecret($0.value, invocation))" }
                .joined(separator: "; ")
            // curl takes a value that begins with `@` for a file name.
            words += pairs.utf8.first == UInt8(ascii: "@") ? ["-H", "Cookie: \(pairs)"] : ["-b", pairs]
        }
        words += Self.versionOptions(invocation, plan.url)
        words += Self.connectionOptions(invocation)
        words += Self.certificateOptions(invocation, context)
        words += Self.savingOptions(invocation)
        // The redirects of an http URL may lead to http again.
        if invocation.refusesDowngrade, plan.url.scheme == "https" { words += ["--proto-redir", "=https"] }
        let (bodyOptions, note) = Self.bodyOptions(plan.body)
        words += bodyOptions
        if !invocation.keepsEncoding { words.append("--compressed") }
        let address = plan.url.absoluteString
        if invocation.keepsDotSegments, address.contains("/.") { words.append("--path-as-is") }
        // Without -g, curl interprets brackets and braces as patterns.
        if address.utf8.contains(where: { "[]{}".utf8.contains($0) }) { words.append("-g") }
        words.append(address)
        text = words.map(Self.quoted).joined(separator: " ") + note
    }

    /// Returns a secret, or the text that replaces it unless the user asks for secrets.
    private static func shownSecret(_ secret: String, _ invocation: Invocation) -> String {
        invocation.showsSecrets ? secret : secretPlaceholder
    }

    /// Returns the option for the method, if curl would use another one for the body.
    private static func methodOptions(_ plan: RequestPlan) -> [String] {
        if plan.method == "HEAD" { return ["-I"] }
        // The method that curl uses without -X.
        let curlMethod =
            switch plan.body {
            case .file, .standardInput: "PUT"
            case .data: "POST"
            case .none: "GET"
            }
        return plan.method == curlMethod ? [] : ["-X", plan.method]
    }

    /// Returns the options for the header fields of the plan, and for curl's own fields that the plan omits.
    private static func fieldOptions(_ plan: RequestPlan, _ invocation: Invocation) -> [String] {
        var words: [String] = []
        for (name, value) in plan.headers {
            let lowered = name.lowercased()
            // curl itself sends the `Authorization` of -u, and `Accept: */*`.
            if plan.credentials != nil, !plan.usesDigest, lowered == "authorization" { continue }
            if lowered == "accept", value == "*/*" { continue }
            // curl would read fields from a file of this name. No valid field name begins with `@`.
            if name.utf8.first == UInt8(ascii: "@") { continue }
            let shownValue = HeadText.secretFields.contains(lowered) ? shownSecret(value, invocation) : value
            // `NAME;` makes curl send an empty field; `NAME:` makes it omit the field.
            words += ["-H", shownValue.isEmpty ? "\(name);" : "\(name): \(shownValue)"]
        }
        let isUpload =
            switch plan.body {
            case .file, .standardInput: true
            case .data, .none: false
            }
        // curl sends no `Accept-Language` of its own, and no `Content-Type` with an upload.
        for name in plan.omittedFields.sorted()
        where name != "Accept-Language" && !(name == "Content-Type" && isUpload) {
            words += ["-H", "\(name):"]
        }
        return words
    }

    /// Returns the options for the body. The note is a comment for the end of the line, if the body cannot be shown.
    private static func bodyOptions(_ body: MessageBody) -> (words: [String], note: String) {
        switch body {
        case .none: return ([], "")
        case .data(let data):
            // `-d` takes text that begins with `@` for a file name.
            if let body = String(validating: data, as: UTF8.self), !data.contains(0) {
                return ([data.first == UInt8(ascii: "@") ? "--data-raw" : "-d", body], "")
            }
            return ([], " # the body is not shown: \(data.count) bytes that are no text")
        case .file(let path, _): return (["-T", path], "")
        case .standardInput: return (["-T", "-"], "")
        }
    }

    /// Returns the options that restrict curl to the same HTTP version. If an https server may choose the version, curl lets it
    /// choose without an option.
    private static func versionOptions(_ invocation: Invocation, _ url: URL) -> [String] {
        switch (invocation.httpVersions, url.scheme?.lowercased()) {
        case (.http11, "https"): ["--http1.1"]
        case (.http2, "https"), (.http2, "http"): ["--http2-prior-knowledge"]
        default: []
        }
    }

    /// Returns the options for redirects, proxies, connections, the versions of TLS, and limits.
    private static func connectionOptions(_ invocation: Invocation) -> [String] {
        var words: [String] = []
        if invocation.followsRedirects { words.append("-L") }
        words.add("--max-redirs", invocation.redirectLimit.map { "\($0)" })
        if invocation.isInsecure { words.append("-k") }
        if invocation.failsOnErrorStatus {
            words.append(invocation.failsWithBody ? "--fail-with-body" : "-f")
        }
        words.add("-x", invocation.proxy.map { invocation.showsSecrets ? $0 : hidingPassword($0) })
        if let user = invocation.proxyUser.map({ Credentials($0) }) {
            words.add("-U", "\(user.user):\(shownSecret(user.password, invocation))")
        }
        words.add("--noproxy", invocation.noProxy)
        for rule in invocation.connectToRules {
            let source = hostAndPort(rule.host, rule.port)
            words.add("--connect-to", "\(source):\(hostAndPort(rule.newHost, rule.newPort))")
        }
        if let family = invocation.addressFamily { words.append(family == .ipv4 ? "-4" : "-6") }
        words.add("--max-filesize", invocation.maximumFileSize.map { "\($0)" })
        if !invocation.allowsTLS13 { words.add("--tls-max", "1.2") }
        if invocation.needsTLS13 { words.append("--tlsv1.3") }
        words.add("--ciphers", invocation.ciphers)
        words.add("--tls13-ciphers", invocation.cipherSuites)
        for override in invocation.addressOverrides {
            let addresses = override.addresses.joined(separator: ",")
            words.add("--resolve", "\(override.host):\(override.port):\(addresses)")
        }
        words.add("--unix-socket", invocation.unixSocket)
        words.add("--interface", invocation.interface)
        words.add("--connect-timeout", invocation.connectTimeout.map { "\($0)" })
        words.add("-m", invocation.maximumTime.map { "\($0)" })
        if invocation.retryLimit > 0 { words.add("--retry", "\(invocation.retryLimit)") }
        words.add("--limit-rate", invocation.rateLimit.map { "\($0)" })
        return words
    }

    /// Returns the options for the roots, the pins and the client certificate.
    private static func certificateOptions(_ invocation: Invocation, _ context: ProcessContext) -> [String] {
        var words: [String] = []
        words.add("--cacert", invocation.authoritiesFile)
        words.add(
            "--cert",
            invocation.certificate.map { typed in
                let (file, password) = SessionMaker.fileAndPassword(typed, context)
                return password == nil || invocation.showsSecrets ? typed : "\(file):\(secretPlaceholder)"
            })
        words.add("--key", invocation.keyFile)
        words.add("--pass", invocation.keyPassword.map { shownSecret($0, invocation) })
        if !invocation.pins.isEmpty {
            // `--pin` accepts one slash or two; curl demands two.
            let pins = invocation.pins.map {
                $0.hasPrefix("sha256//") ? $0 : $0.replacing("sha256/", with: "sha256//")
            }
            words.add("--pinnedpubkey", pins.joined(separator: ";"))
        }
        return words
    }

    /// Returns the options for the files that content is saved to.
    private static func savingOptions(_ invocation: Invocation) -> [String] {
        var words: [String] = []
        for (index, destination) in invocation.destinations.enumerated() {
            switch destination {
            case .file(let file): words.add("-o", file)
            // The command has one URL, so a second -O would have none.
            case .remoteName: if index == 0 { words.append("-O") }
            }
        }
        if invocation.usesServerFileName { words.append("-J") }
        if invocation.createsFolders { words.append("--create-dirs") }
        words.add("--output-dir", invocation.outputFolder)
        if invocation.setsModificationDate { words.append("-R") }
        switch invocation.resumption {
        case .automatic: words.add("-C", "-")
        case .offset(let count): words.add("-C", "\(count)")
        case nil: break
        }
        return words
    }

    /// Returns `HOST:PORT`, in which a missing host or port is empty and an IPv6 address is in brackets.
    private static func hostAndPort(_ host: String?, _ port: UInt16?) -> String {
        var text = host ?? ""
        if text.contains(":") { text = "[\(text)]" }
        text += ":"
        if let port { text += "\(port)" }
        return text
    }

    /// Returns a proxy's URL with its password hidden. The code compares Unicode scalars and not characters, since an `@` and a
    /// combining mark together are another character.
    private static func hidingPassword(_ proxy: String) -> String {
        let scalars = proxy.unicodeScalars
        let authorityStart = proxy.range(of: "://", options: .literal)?.upperBound ?? scalars.startIndex
        // Without an `@` or a colon before it, there is no password.
        guard let at = scalars[authorityStart...].lastIndex(of: "@"),
            let colon = scalars[authorityStart..<at].firstIndex(of: ":")
        else { return proxy }
        return String(scalars[...colon]) + secretPlaceholder + String(scalars[at...])
    }

    /// Quotes a word for a shell if necessary. The code compares Unicode scalars and not characters: for a shell, a quote is a
    /// quote even with a combining mark after it.
    static func quoted(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy {
            switch $0 {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ":", "=", ",", "@", "%", "+": true
            default: false
            }
        }
        if isPlain, !word.isEmpty { return word }
        // Within single quotes only a single quote is special: `'\''` ends the quotes, adds one, and begins them again.
        let textsBetweenQuotes = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
        return "'" + textsBetweenQuotes.map { String($0) }.joined(separator: "'\\''") + "'"
    }
}

extension [String] {
    /// Adds an option with its value, unless the value is nil.
    fileprivate mutating func add(_ name: String, _ value: String?) {
        if let value { self += [name, value] }
    }
}
