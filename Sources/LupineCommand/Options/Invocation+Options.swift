// SPDX-License-Identifier: MIT

/// Applies the options of a command line to the properties. Each method for a group of options ignores the options of other
/// groups, and those without an effect, such as --compressed.
extension Invocation {
    /// Applies one option. Throws if the value is invalid.
    ///
    /// - Parameters:
    ///   - option: The option.
    ///   - value: The value; empty for an option without a value.
    mutating func apply(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .request, .data, .dataRaw, .dataBinary, .dataURLEncode, .part, .json, .form, .multipart, .raw,
            .upload,
            .get, .head, .header, .userAgent, .referer, .compressed, .rawEncoding, .ignoreStandardInput,
            .urlQuery, .formString:
            try applyRequestOption(option, value)
        case .range, .timeCondition, .etagCompare, .etagSave, .pathAsIs, .defaultScheme, .globOff:
            try applyConditionOption(option, value)
        case .user: user = value
        case .authType, .basic, .anyAuth, .bearer, .netrcFile, .netrcOptional, .ignoreNetrc:
            applyIdentityOption(option, value)
        case .digest:
            // As for all schemes, `usesDigest` follows from `authType`: see `applyIdentityOption`.
            (authType, usesDigest) = (.digest, true)
        case .netrc: readsNetrc = true
        case .cookie: cookies.append(value)
        case .cookieJar: cookieJar = value
        case .session: userSessionName = try Self.nonEmpty(option, value)
        case .sessionReadOnly:
            userSessionName = try Self.nonEmpty(option, value)
            savesSession = false
        case .location, .maximumRedirects, .noDowngrade, .proxy, .noProxy, .resolve, .unixSocket, .interface,
            .http11, .http2, .priorKnowledge, .connectTimeout, .maximumTime, .retry, .limitRate:
            try applyNetworkOption(option, value)
        case .proxyUser, .socks, .connectTo, .ipv4, .ipv6, .protocols, .redirectProtocols, .parallel:
            try applyRoutingOption(option, value)
        case .maximumFileSize, .retryAllErrors, .retryRefused, .retryDelay, .retryMaximumTime:
            try applyLimitOption(option, value)
        case .insecure: isInsecure = true
        case .authorities: authoritiesFile = value
        case .certificate: certificate = value
        case .key: keyFile = value
        case .password: keyPassword = value
        // One --pin may have several pins, separated by semicolons.
        case .pin: pins += value.split(separator: ";").map(String.init)
        // TLS 1.2 is the lowest version by default: --tlsv1.2 only undoes an earlier --tlsv1.3.
        case .tls12: needsTLS13 = false
        case .tls13: needsTLS13 = true
        case .verify, .maximumTLS, .tlsVersion, .ciphers, .cipherSuites: applyTLSOption(option, value)
        case .include, .print, .headersOnly, .bodyOnly, .verbose, .silent, .showError, .fail, .writeOut,
            .dumpHeader,
            .color, .pretty, .output, .remoteName, .remoteHeaderName, .continueAt, .noProgress:
            try applyOutputOption(option, value)
        case .failWithBody, .offline, .all, .unsorted, .quiet, .download, .continueDownload, .remoteNameAll,
            .createFolders, .outputFolder, .remoteTime, .progressBar:
            try applySavingOption(option, value)
        // --timing without a value is --timing=text.
        case .timing: timing = TimingFormat(rawValue: value.isEmpty ? "text" : value)
        case .certificates: listsCertificates = true
        case .events: reportsEvents = true
        case .toCurl: printsCurl = true
        case .showSecrets: showsSecrets = true
        case .stream: streamsContent = true
        case .serverSentEvents: followsEvents = true
        // `CommandLineReader` handles these options itself and does not pass them to this method.
        case .url, .help, .version, .next: break
        }
    }

    /// Applies an option for the method, the body or the header fields.
    private mutating func applyRequestOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .request:
            guard Self.isMethodToken(value) else {
                throw UsageError("`\(value)` is no method: use letters, such as -X POST")
            }
            method = value
        case .data: dataValues.append(DataValue(kind: .text, text: value))
        case .dataRaw: dataValues.append(DataValue(kind: .raw, text: value))
        case .dataBinary: dataValues.append(DataValue(kind: .binary, text: value))
        case .dataURLEncode: dataValues.append(DataValue(kind: .urlEncode, text: value))
        case .part:
            guard value.contains("="), !value.hasPrefix("=") else {
                throw UsageError("-F needs NAME=CONTENT or NAME=@FILE, not `\(value)`")
            }
            formParts.append(value)
        case .urlQuery: urlQueryValues.append(value)
        case .formString:
            guard value.contains("="), !value.hasPrefix("=") else {
                throw UsageError("--form-string needs NAME=CONTENT, not `\(value)`")
            }
            // The index of the part that the next line appends.
            literalPartIndices.insert(formParts.count)
            formParts.append(value)
        case .json: itemFormat = .json
        case .form: itemFormat = .form
        case .multipart: itemFormat = .multipart
        case .raw: rawBody = value
        case .upload: uploadFile = try Self.nonEmpty(option, value)
        case .get: putsDataIntoQuery = true
        case .head: asksForHead = true
        case .header:
            guard value.hasPrefix("@") || value.contains(":") || value.hasSuffix(";") else {
                throw UsageError("-H needs `Name: value`, not `\(value)`")
            }
            headerLines.append(value)
        case .userAgent: userAgent = value
        case .referer: referer = value
        case .rawEncoding: keepsEncoding = true
        case .ignoreStandardInput: ignoresStandardInput = true
        default: break
        }
    }

    /// Applies an option for redirects, proxies, connections, HTTP versions or limits.
    private mutating func applyNetworkOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .location: followsRedirects = true
        case .maximumRedirects:
            guard let count = Quantity.count(value), count <= 20 else {
                throw UsageError("--max-redirs needs a number from 0 to 20, not `\(value)`")
            }
            redirectLimit = count
        case .noDowngrade: refusesDowngrade = true
        case .proxy:
            // HTTPie's PROTOCOL:URL names a proxy for the URLs of one scheme: `http:http://proxy:3128`.
            let schemeAndURL = value.split(separator: ":", maxSplits: 1).map(String.init)
            if schemeAndURL.count == 2, ["http", "https", "all"].contains(schemeAndURL[0].lowercased()),
                schemeAndURL[1].contains("://")
            {
                schemeProxies["\(schemeAndURL[0].lowercased())_proxy"] = schemeAndURL[1]
            } else {
                proxy = value
            }
        case .noProxy: noProxy = value
        case .resolve: addressOverrides.append(try AddressOverride(value))
        case .unixSocket: unixSocket = try Self.nonEmpty(option, value)
        case .interface: interface = try Self.nonEmpty(option, value)
        case .http11: httpVersions = .http11
        // --http2 allows HTTP/2 and does not require it.
        case .http2: httpVersions = .both
        case .priorKnowledge: httpVersions = .http2
        case .connectTimeout: connectTimeout = try Self.seconds(option, value)
        case .maximumTime: maximumTime = try Self.seconds(option, value)
        case .retry:
            guard let count = Quantity.count(value), count <= 1000 else {
                throw UsageError("--retry needs a number from 0 to 1000, not `\(value)`")
            }
            retryLimit = count
        case .limitRate:
            guard let bytes = Quantity.bytes(value) else {
                throw UsageError("--limit-rate needs bytes per second such as 200k or 1M, not `\(value)`")
            }
            rateLimit = bytes
        default: break
        }
    }

    /// Applies an option for what is printed, or for where content is saved.
    private mutating func applyOutputOption(_ option: Option, _ value: String) throws(UsageError) {
        switch option.name {
        case .include: includesHead = true
        case .print:
            guard let parts = MessageParts(letters: value) else {
                throw UsageError("--print takes the letters H, h, B, b and m, not `\(value)`")
            }
            printedParts = parts
        case .headersOnly: printedParts = .responseHead
        case .bodyOnly: printedParts = .responseBody
        case .verbose:
            // `isVerbose` is already true at a second -v, which is -vv.
            reportsHTTP2Events = isVerbose
            isVerbose = true
        case .silent: isSilent = true
        case .showError: showsErrors = true
        case .fail: failsOnErrorStatus = true
        case .writeOut: writeOutFormat = value
        case .dumpHeader: headFile = value
        // For --color and --pretty, the parser accepts only words that are raw values.
        case .color: color = ColorChoice(rawValue: value) ?? .auto
        case .pretty: pretty = Pretty(rawValue: value)
        case .output: destinations.append(.file(try Self.nonEmpty(option, value)))
        case .remoteName: destinations.append(.remoteName)
        case .remoteHeaderName: usesServerFileName = true
        case .continueAt:
            if value == "-" {
                resumption = .automatic
            } else if let offset = Quantity.count(value) {
                resumption = .offset(Int64(offset))
            } else {
                throw UsageError("-C needs an offset in bytes or `-`, not `\(value)`")
            }
        case .noProgress: showsProgress = false
        default: break
        }
    }

    /// Returns whether a text is a valid method: a token (RFC 9110 §5.6.2) of at most 64 octets.
    static func isMethodToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.unicodeScalars.allSatisfy {
                $0.isASCII
                    && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
                        || "!#$%&'*+-.^_`|~".unicodeScalars.contains($0))
            }
    }

    /// Returns the value of an option; throws if it is empty.
    static func nonEmpty(_ option: Option, _ value: String) throws(UsageError) -> String {
        if value.isEmpty { throw UsageError("\(option.shownName) needs a name that is not empty") }
        return value
    }

    /// Returns the value of an option as seconds; throws if it is invalid.
    static func seconds(_ option: Option, _ value: String) throws(UsageError) -> Double {
        guard let seconds = Quantity.seconds(value) else {
            throw UsageError("\(option.shownName) needs seconds such as 5 or 0.5, not `\(value)`")
        }
        return seconds
    }
}

extension Invocation.AddressOverride {
    /// Parses `HOST:PORT:ADDRESS[,ADDRESS]`. IPv6 addresses may be in brackets. Throws if a field is missing or the port is no
    /// number.
    init(_ text: String) throws(UsageError) {
        // curl's `+` gives the entry a limited lifetime, which has no meaning here.
        let entry = text.first == "+" ? text.dropFirst() : Substring(text)
        let fields = entry.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(
            String.init)
        guard fields.count == 3, !fields[0].isEmpty, let port = UInt16(fields[1]), !fields[2].isEmpty
        else {
            throw UsageError("--resolve needs HOST:PORT:ADDRESS, not `\(text)`")
        }
        host = fields[0]
        self.port = port
        addresses = fields[2].split(separator: ",").map { (address: Substring) -> String in
            let isBracketed = address.hasPrefix("[") && address.hasSuffix("]")
            return String(isBracketed ? address.dropFirst().dropLast() : address)
        }
    }
}
