// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Creates the library's sessions from the options. The settings that Apple's `URLSessionConfiguration` lacks are in its `lupine`
/// property.
struct SessionMaker {
    let invocation: Invocation
    let context: ProcessContext
    /// Evaluates the trust of all servers; nil leaves that to the library.
    let evaluator: CommandTrustEvaluator?
    let monitors: [any EventMonitor]
    /// The URLs of the command line.
    let urls: [URL]

    /// Creates a session for the request of a plan.
    ///
    /// - Parameters:
    ///   - plan: The request.
    ///   - cookies: The cookie storage; nil if cookies are not kept.
    ///   - wireReporter: The observer of the session's transfers, if any.
    func session(
        for plan: RequestPlan, cookies: HTTPCookieStorage?, wire wireReporter: WireReporter? = nil
    ) throws -> Session {
        let configuration = try configuration(omitting: plan.omittedFields)
        if let wireReporter { configuration.lupine.transferObservers = [wireReporter] }
        configuration.httpCookieStorage = cookies
        configuration.lupine.sensitiveFields.formUnion(plan.originBoundFields)
        return Session(
            configuration: configuration,
            // With --anyauth (`.any`), a Basic challenge is answered too.
            delegate: ChallengeDelegate(
                allowsOnlyDigest: plan.usesDigest && invocation.authType != .any),
            rootQueue: DispatchQueue(label: "lupine.command"),
            serverTrustManager: evaluator.map(AllHostsTrustManager.init), eventMonitors: monitors)
    }

    /// Returns the configuration of a session whose requests omit these default fields.
    func configuration(omitting omitted: Set<String>) throws -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        // As with curl, only --connect-timeout and --max-time limit a request.
        configuration.timeoutIntervalForRequest = .infinity
        configuration.timeoutIntervalForResource = invocation.maximumTime ?? .infinity
        var options = configuration.lupine
        options.decodesContent = !invocation.keepsEncoding
        options.omittedFields = omitted
        options.httpVersions =
            switch invocation.httpVersions {
            case .http11: .http11
            case .both: [.http11, .http2]
            case .http2: .http2
            }
        options.unixSocketPath = invocation.unixSocket.map(context.path)
        // Without --interface, the unspecified address of a family restricts connections to this family (-4, -6).
        options.localBinding =
            invocation.interface ?? invocation.addressFamily.map { $0 == .ipv4 ? "0.0.0.0" : "::" }
        options.connectTimeout = invocation.connectTimeout.map { .seconds($0) }
        options.receiveRate = invocation.rateLimit
        options.sendRate = invocation.rateLimit
        options.proxies = proxies
        options.addressOverrides = try addressOverrides()
        options.offersWebSocketCompression = true
        options.followsInsecureRedirects = !invocation.refusesDowngrade
        try configure(&options.tls)
        configuration.lupine = options
        return configuration
    }

    /// The proxies of -x, --noproxy and the options for single schemes, keyed by the names of the environment variables. Without
    /// -x, the proxies of the environment are included. Nil if none of the options is used: the library then reads the
    /// environment.
    private var proxies: [String: String]? {
        guard invocation.proxy != nil || invocation.noProxy != nil || !invocation.schemeProxies.isEmpty else {
            return nil
        }
        guard let proxy = invocation.proxy.map(addingCredentials(to:)) else {
            // On a CGI server, a client could set HTTP_PROXY with a header field, so this variable is ignored.
            var proxies = context.environment.filter {
                $0.key.lowercased().hasSuffix("_proxy") && $0.key != "HTTP_PROXY"
            }
            if let hosts = invocation.noProxy { proxies["no_proxy"] = hosts }
            // The options for single schemes take precedence (`$1`), here and below.
            return proxies.merging(invocation.schemeProxies) { $1 }
        }
        var proxies = [
            "all_proxy": proxy.isEmpty || proxy.contains("://") ? proxy : "http://\(proxy)",
            "no_proxy": invocation.noProxy ?? "",
        ]
        proxies.merge(invocation.schemeProxies) { $1 }
        return proxies
    }

    /// Returns the proxy's URL with the credentials of -U. An empty URL, which stands for no proxy, stays empty.
    private func addingCredentials(to proxy: String) -> String {
        guard !proxy.isEmpty, let userAndPassword = invocation.proxyUser else { return proxy }
        let credentials = Credentials(userAndPassword)
        let authorityStart = proxy.range(of: "://")?.upperBound ?? proxy.startIndex
        let userInfo =
            PercentEncoding.encoded(credentials.user) + ":" + PercentEncoding.encoded(credentials.password)
        let host =
            proxy[authorityStart...].lastIndex(of: "@").map { proxy[proxy.index(after: $0)...] }
            ?? proxy[authorityStart...]
        return "\(proxy[..<authorityStart])\(userInfo)@\(host)"
    }

    /// Returns the addresses of --resolve and --connect-to, by the host and port that they replace.
    private func addressOverrides() throws
        -> [URLSessionConfiguration.LupineOptions.HostAndPort: [SocketAddress]]
    {
        var overrides: [URLSessionConfiguration.LupineOptions.HostAndPort: [SocketAddress]] = [:]
        for override in invocation.addressOverrides {
            overrides[.init(host: override.host, port: override.port)] = try override.addresses.map { text in
                guard let address = SocketAddress(literal: text, port: override.port) else {
                    throw UsageError("--resolve needs an IP address, not `\(text)`")
                }
                return address
            }
        }
        // The targets of redirects are unknown here, so overrides are made for the URLs of the command line and for the default
        // ports. A rule without a host becomes an override for the host `*`.
        //
        // The ports that already have an override for the host `*`:
        var portsOfAllHosts: Set<UInt16> = []
        for rule in invocation.connectToRules {
            let targets = urls.map { url in
                let defaultPort: UInt16 = ["https", "wss"].contains(url.scheme?.lowercased()) ? 443 : 80
                let port = rule.port ?? url.port.flatMap { UInt16(exactly: $0) } ?? defaultPort
                // A rule without a host applies to the host of each URL.
                return (host: rule.host ?? url.host ?? "", port: port)
            }
            // A rule without a port applies to the ports of the URLs and to the default ports.
            let ports = rule.port.map { [$0] } ?? Set(targets.map(\.port) + [80, 443]).sorted()
            // Redirects may lead to the host of the rule, even if no URL has it.
            let redirectTargets = rule.host.map { host in ports.map { (host: host, port: $0) } } ?? []
            for (host, port) in targets + redirectTargets where !portsOfAllHosts.contains(port) {
                // An earlier rule takes precedence over later ones, and --resolve over all rules.
                let key = URLSessionConfiguration.LupineOptions.HostAndPort(host: host, port: port)
                guard overrides[key] == nil else { continue }
                overrides[key] = try addresses(rule.newHost ?? host, rule.newPort ?? port)
            }
            // A rule that only changes the port cannot be an override for `*`: an override consists of addresses.
            guard rule.host == nil, let newHost = rule.newHost, !mayUseProxy else { continue }
            for port in ports where portsOfAllHosts.insert(port).inserted {
                let key = URLSessionConfiguration.LupineOptions.HostAndPort(host: "*", port: port)
                guard overrides[key] == nil else { continue }
                overrides[key] = try addresses(newHost, rule.newPort ?? port)
            }
        }
        return overrides
    }

    /// Whether a proxy may be used. An override for the host `*` would also replace the proxy's own address.
    private var mayUseProxy: Bool {
        (proxies ?? context.environment).contains { name, value in
            let name = name.lowercased()
            return name.hasSuffix("_proxy") && name != "no_proxy" && !value.isEmpty
        }
    }

    /// Returns the addresses of a host that --connect-to names. Blocks while the name is resolved.
    private func addresses(_ host: String, _ port: UInt16) throws -> [SocketAddress] {
        if let address = SocketAddress(literal: host, port: port) { return [address] }
        let resolved = Host(name: host).addresses.compactMap { SocketAddress(literal: $0, port: port) }
        guard !resolved.isEmpty else {
            throw CommandFailure(
                .nameResolution,
                "Cannot resolve \(host), which --connect-to names. Check the spelling, or give its address.")
        }
        return resolved
    }

    /// Sets the TLS options: versions, ciphers, roots and the client certificate.
    private func configure(_ tls: inout URLSessionConfiguration.LupineOptions.TLS) throws {
        tls.keyLogPath = context.environment["SSLKEYLOGFILE"].flatMap { $0.isEmpty ? nil : $0 }
        if invocation.needsTLS13 { tls.minimumVersion = .v1_3 }
        if !invocation.allowsTLS13 { tls.maximumVersion = .v1_2 }
        tls.cipherList = invocation.ciphers
        tls.cipherSuites = invocation.cipherSuites
        if let file = invocation.authoritiesFile {
            do { tls.roots = .certificates(try Certificate.bundle(file: context.path(file))) } catch {
                throw CommandFailure(
                    .untrusted,
                    "Cannot take the roots of --cacert \(file): \(error). Give a file of certificates in PEM."
                )
            }
        }
        guard let file = invocation.certificate else { return }
        do { tls.identity = try identity(file) } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(
                .clientCertificate,
                "Cannot use the certificate of --cert \(Self.fileAndPassword(file, context).file): \(error). Check that its key is in the file or in --key, and the password in --pass."
            )
        }
    }

    /// Splits the `FILE` or `FILE:PASSWORD` of --cert. If a file of the whole name exists, the colon belongs to the name.
    static func fileAndPassword(
        _ argument: String, _ context: ProcessContext
    ) -> (file: String, password: String?) {
        guard !FileManager.default.fileExists(atPath: context.path(argument)),
            let colon = argument.lastIndex(of: ":")
        else { return (argument, nil) }
        return (String(argument[..<colon]), String(argument[argument.index(after: colon)...]))
    }

    /// Reads the client certificate of --cert with its key, in PEM or PKCS #12.
    private func identity(_ argument: String) throws -> TLSIdentity {
        // The password of --cert takes precedence over that of --pass.
        let (file, passwordOfCert) = Self.fileAndPassword(argument, context)
        let password = passwordOfCert ?? invocation.keyPassword
        let content = try read(file)
        let isPEM =
            content.starts(with: Data("-----".utf8))
            || String(decoding: content, as: UTF8.self).contains("-----BEGIN")
        guard isPEM else { return try TLSIdentity(pkcs12: [UInt8](content), password: password) }
        // Without --key, the key is in the same file as the certificates.
        let key = try invocation.keyFile.map(read) ?? content
        return try TLSIdentity(
            pemChain: String(decoding: content, as: UTF8.self), pemKey: String(decoding: key, as: UTF8.self),
            password: password)
    }

    /// Reads a file that the user has named.
    private func read(_ file: String) throws -> Data {
        do { return try Data(contentsOf: URL(fileURLWithPath: context.path(file))) } catch {
            throw CommandFailure.unreadable(file, error)
        }
    }
}
