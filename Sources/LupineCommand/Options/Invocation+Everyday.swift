// SPDX-License-Identifier: MIT

/// Applies the less common options of curl and HTTPie: conditions, credentials, routing, limits, TLS and saving. Each method
/// ignores the options of other groups, and those without an effect, such as -Z.
extension Invocation {
    /// Applies an option that makes the request conditional, or that changes how a URL is read.
    mutating func applyConditionOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .range:
            guard value.contains("-"), value.allSatisfy({ $0.isASCII && ($0.isNumber || "-,".contains($0)) })
            else {
                throw UsageError("-r needs bytes such as 0-99, 100- or -100, not `\(value)`")
            }
            range = value
        case .timeCondition: timeCondition = try Self.nonEmpty(option, value)
        case .etagCompare: etagCompareFile = try Self.nonEmpty(option, value)
        case .etagSave: etagSaveFile = try Self.nonEmpty(option, value)
        case .pathAsIs: keepsDotSegments = true
        case .defaultScheme:
            guard ["http", "https", "ws", "wss"].contains(value.lowercased()) else {
                throw UsageError("--default-scheme needs http, https, ws or wss, not `\(value)`")
            }
            defaultScheme = value.lowercased()
        default: break
        }
    }

    /// Applies an option for the authentication scheme or for the .netrc file.
    mutating func applyIdentityOption(_ option: Option, _ value: String) {
        switch option.name {
        // The parser accepts only words that are raw values.
        case .authType: authType = AuthType(rawValue: value) ?? .basic
        case .basic: authType = .basic
        case .anyAuth: authType = .any
        case .bearer: bearerToken = value
        case .netrcFile:
            readsNetrc = true
            netrcFile = value
        case .netrcOptional:
            readsNetrc = true
            isNetrcOptional = true
        case .ignoreNetrc: readsNetrc = false
        default: break
        }
        // With either scheme, credentials wait for a challenge.
        usesDigest = authType == .digest || authType == .any
    }

    /// Applies an option for the proxy, the server to connect to, or the allowed schemes.
    mutating func applyRoutingOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .proxyUser: proxyUser = try Self.nonEmpty(option, value)
        // With `socks5h`, the proxy looks up the names of servers.
        case .socks: proxy = value.contains("://") ? value : "socks5h://\(value)"
        case .connectTo: connectToRules.append(try ConnectToRule(value))
        case .ipv4: addressFamily = .ipv4
        case .ipv6: addressFamily = .ipv6
        case .protocols: protocols.apply(value)
        case .redirectProtocols: redirectProtocols.apply(value)
        default: break
        }
    }

    /// Applies an option for the length of the content or for retries.
    mutating func applyLimitOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .maximumFileSize:
            guard let bytes = Quantity.bytes(value) else {
                throw UsageError("--max-filesize needs bytes such as 200k or 1M, not `\(value)`")
            }
            maximumFileSize = Int64(bytes)
        case .retryAllErrors: retriesAllErrors = true
        case .retryRefused: retriesRefused = true
        case .retryDelay: retryDelay = try Self.seconds(option, value)
        case .retryMaximumTime: retryMaximumTime = try Self.seconds(option, value)
        default: break
        }
    }

    /// Applies an option for the trusted certificates, the versions of TLS or the ciphers.
    mutating func applyTLSOption(_ option: Option, _ value: String) {
        switch option.name {
        case .verify:
            switch value.lowercased() {
            case "no", "false": isInsecure = true
            case "yes", "true": isInsecure = false
            default: authoritiesFile = value
            }
        case .maximumTLS: allowsTLS13 = value != "1.2"
        case .tlsVersion:
            needsTLS13 = value == "tls1.3"
            allowsTLS13 = value != "tls1.2"
        case .ciphers: ciphers = value
        case .cipherSuites: cipherSuites = value
        default: break
        }
    }

    /// Applies an option for failures, for requests that are only printed, or for saved files.
    mutating func applySavingOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .failWithBody: (failsOnErrorStatus, failsWithBody) = (true, true)
        case .offline: isOffline = true
        case .all: showsRedirectHeads = true
        // An empty set prints nothing. Nil would print the default parts.
        case .quiet: (printedParts, showsProgress) = ([], false)
        case .download: isDownload = true
        case .continueDownload: resumption = .automatic
        case .remoteNameAll: savesAllURLs = true
        case .createFolders: createsFolders = true
        case .outputFolder: outputFolder = try Self.nonEmpty(option, value)
        case .remoteTime: setsModificationDate = true
        default: break
        }
    }

    /// The token of --oauth2-bearer, or of --auth with --auth-type bearer; nil without one.
    var token: String? { bearerToken ?? (authType == .bearer ? user : nil) }

    /// Sets the properties that follow from a combination of options. The parser calls this method when all options
    /// are applied and the URLs are known.
    mutating func resolveCombinations() {
        // HTTPie's --download follows redirects and does not save an error page.
        if isDownload { (followsRedirects, failsOnErrorStatus) = (true, true) }
        if savesAllURLs, !destinations.isEmpty {
            // The URLs without a destination of their own.
            for _ in urls.dropFirst(destinations.count) { destinations.append(.remoteName) }
        }
        guard destinations.isEmpty, isDownload || savesAllURLs else { return }
        // A single -O is for all URLs.
        destinations = [.remoteName]
        // A resumed download needs a known file name, so the server cannot choose it.
        if isDownload { usesServerFileName = (resumption == nil) }
    }

    /// Adds the DATA of curl's --json to the body, and restricts `Accept` to JSON.
    mutating func addJSONData(_ text: String) {
        // `ContentBuilder` then sends DATA as `application/json`.
        itemFormat = .json
        acceptsJSONAlone = true
        dataValues.append(DataValue(kind: .json, text: text))
    }

    /// Returns an invocation for the requests after --next. It has only the options that apply to all requests.
    func successor() -> Invocation {
        var next = Invocation()
        next.isSilent = isSilent
        next.showsErrors = showsErrors
        next.isVerbose = isVerbose
        next.reportsHTTP2Events = reportsHTTP2Events
        next.showsProgress = showsProgress
        next.ignoresStandardInput = ignoresStandardInput
        // With --offline or --to-curl no request of the command line may be sent.
        next.isOffline = isOffline
        next.printsCurl = printsCurl
        return next
    }
}

extension Invocation.ConnectToRule {
    /// Parses `HOST1:PORT1:HOST2:PORT2`, in which each field may be empty. IPv6 addresses are in brackets. Throws if a field is
    /// missing or a port is no number.
    init(_ text: String) throws(UsageError) {
        var fields = [""]
        var isInBrackets = false
        for letter in text {
            if letter == "[" { isInBrackets = true }
            if letter == "]" { isInBrackets = false }
            // A colon in brackets is part of an IPv6 address.
            if letter == ":", !isInBrackets {
                fields.append("")
            } else {
                fields[fields.count - 1].append(letter)
            }
        }
        let ports = fields.count == 4 ? [fields[1], fields[3]] : []
        guard fields.count == 4, ports.allSatisfy({ $0.isEmpty || UInt16($0) != nil }) else {
            throw UsageError(
                "--connect-to needs HOST1:PORT1:HOST2:PORT2, of which each may be empty, not `\(text)`")
        }
        let withoutBrackets = { (host: String) in
            host.isEmpty ? nil : host.filter { $0 != "[" && $0 != "]" }
        }
        // An empty field becomes nil, for a host and for a port.
        host = withoutBrackets(fields[0])
        port = UInt16(fields[1])
        newHost = withoutBrackets(fields[2])
        newPort = UInt16(fields[3])
    }
}
