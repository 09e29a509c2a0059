// SPDX-License-Identifier: MIT

import Testing

@testable import LupineCommand

/// A command line with an option, and a check of the invocation that it is parsed into.
struct LineCase: CustomTestStringConvertible, Sendable {
    let words: [String]
    let option: OptionName
    /// Returns whether the invocation has the properties that the line sets.
    let isExpected: @Sendable (Invocation) -> Bool

    init(_ line: String, _ option: OptionName, _ isExpected: @escaping @Sendable (Invocation) -> Bool) {
        words = line.split(separator: " ").map(String.init) + ["h.test"]
        self.option = option
        self.isExpected = isExpected
    }

    var testDescription: String { words.joined(separator: " ") }

    static let all: [LineCase] = [
        LineCase("-X PUT", .request) { $0.method == "PUT" },
        LineCase("-XPURGE", .request) { $0.method == "PURGE" },
        LineCase("--request=PATCH", .request) { $0.method == "PATCH" },
        LineCase("-d a=b -d c", .data) {
            $0.dataValues.map(\.text) == ["a=b", "c"] && $0.dataValues.allSatisfy { $0.kind == .text }
        },
        LineCase("--data-ascii a", .data) { $0.dataValues == [.init(kind: .text, text: "a")] },
        LineCase("--data-raw @a", .dataRaw) { $0.dataValues == [.init(kind: .raw, text: "@a")] },
        LineCase("--data-binary @a", .dataBinary) { $0.dataValues == [.init(kind: .binary, text: "@a")] },
        LineCase("--data-urlencode a=b", .dataURLEncode) {
            $0.dataValues == [.init(kind: .urlEncode, text: "a=b")]
        },
        LineCase("-F a=@b", .part) { $0.formParts == ["a=@b"] },
        LineCase("--json", .json) { $0.itemFormat == .json },
        LineCase("--form", .form) { $0.itemFormat == .form },
        LineCase("--multipart", .multipart) { $0.itemFormat == .multipart },
        LineCase("--raw text", .raw) { $0.rawBody == "text" },
        LineCase("-T file", .upload) { $0.uploadFile == "file" },
        LineCase("-G -d a", .get) { $0.putsDataIntoQuery },
        LineCase("-I", .head) { $0.asksForHead },
        LineCase("-H X:y -H Z;", .header) { $0.headerLines == ["X:y", "Z;"] },
        LineCase("-A me", .userAgent) { $0.userAgent == "me" },
        LineCase("-e http://r.test/", .referer) { $0.referer == "http://r.test/" },
        LineCase("--compressed", .compressed) { !$0.keepsEncoding },
        LineCase("--raw-encoding", .rawEncoding) { $0.keepsEncoding },
        LineCase("--ignore-stdin", .ignoreStandardInput) { $0.ignoresStandardInput },
        LineCase("-u me:pw", .user) { $0.user == "me:pw" },
        LineCase("--auth me:pw", .user) { $0.user == "me:pw" },
        LineCase("--digest", .digest) { $0.usesDigest },
        LineCase("-n", .netrc) { $0.readsNetrc },
        LineCase("-b a=b -b jar", .cookie) { $0.cookies == ["a=b", "jar"] },
        LineCase("-c jar", .cookieJar) { $0.cookieJar == "jar" },
        LineCase("--session me", .session) { $0.userSessionName == "me" },
        LineCase("-L", .location) { $0.followsRedirects },
        LineCase("--follow", .location) { $0.followsRedirects },
        LineCase("--max-redirs 3", .maximumRedirects) { $0.redirectLimit == 3 },
        LineCase("--no-downgrade", .noDowngrade) { $0.refusesDowngrade },
        LineCase("-x proxy:3128", .proxy) { $0.proxy == "proxy:3128" },
        LineCase("--noproxy *", .noProxy) { $0.noProxy == "*" },
        LineCase("--resolve a.test:80:127.0.0.1,[::1]", .resolve) {
            $0.addressOverrides == [.init(host: "a.test", port: 80, addresses: ["127.0.0.1", "::1"])]
        },
        LineCase("--unix-socket /s", .unixSocket) { $0.unixSocket == "/s" },
        LineCase("--interface lo", .interface) { $0.interface == "lo" },
        LineCase("--http1.1", .http11) { $0.httpVersions == .http11 },
        LineCase("--http2 --http1.1", .http11) { $0.httpVersions == .http11 },
        LineCase("--http2", .http2) { $0.httpVersions == .both },
        LineCase("--http2-prior-knowledge --http2", .http2) { $0.httpVersions == .both },
        LineCase("--http2-prior-knowledge", .priorKnowledge) { $0.httpVersions == .http2 },
        LineCase("--http2 --http2-prior-knowledge", .priorKnowledge) { $0.httpVersions == .http2 },
        LineCase("--connect-timeout 0.5", .connectTimeout) { $0.connectTimeout == 0.5 },
        LineCase("-m 3", .maximumTime) { $0.maximumTime == 3 },
        LineCase("--timeout 3", .maximumTime) { $0.maximumTime == 3 },
        LineCase("--retry 2", .retry) { $0.retryLimit == 2 },
        LineCase("--limit-rate 10k", .limitRate) { $0.rateLimit == 10_240 },
        LineCase("-k", .insecure) { $0.isInsecure },
        LineCase("--cacert f", .authorities) { $0.authoritiesFile == "f" },
        LineCase("-E f", .certificate) { $0.certificate == "f" },
        LineCase("--cert f --key k", .key) { $0.keyFile == "k" },
        LineCase("--pass p", .password) { $0.keyPassword == "p" },
        LineCase("--pin sha256/a;sha256/b --pin sha256/c", .pin) { $0.pins.count == 3 },
        LineCase("--tlsv1.2", .tls12) { !$0.needsTLS13 },
        LineCase("--tlsv1.3", .tls13) { $0.needsTLS13 },
        LineCase("-i", .include) { $0.includesHead },
        LineCase("--print HhBbm", .print) { $0.printedParts?.rawValue == 31 },
        LineCase("--headers", .headersOnly) { $0.printedParts == .responseHead },
        LineCase("--body", .bodyOnly) { $0.printedParts == .responseBody },
        LineCase("-v", .verbose) { $0.isVerbose },
        LineCase("-sS", .silent) { $0.isSilent && $0.showsErrors },
        LineCase("-S", .showError) { $0.showsErrors },
        LineCase("-f", .fail) { $0.failsOnErrorStatus },
        LineCase("--check-status", .failWithBody) { $0.failsOnErrorStatus && $0.failsWithBody },
        LineCase("-w %{http_code}", .writeOut) { $0.writeOutFormat == "%{http_code}" },
        LineCase("-D heads", .dumpHeader) { $0.headFile == "heads" },
        LineCase("--color never", .color) { $0.color == .never },
        LineCase("--pretty format", .pretty) { $0.pretty == .format },
        LineCase("-o f", .output) { $0.destinations == [.file("f")] },
        LineCase("-O", .remoteName) { $0.destinations == [.remoteName] },
        LineCase("-OJ", .remoteHeaderName) { $0.usesServerFileName },
        LineCase("-C - -o f", .continueAt) { $0.resumption == .automatic },
        LineCase("-C 5 -o f", .continueAt) { $0.resumption == .offset(5) },
        LineCase("--no-progress-meter", .noProgress) { !$0.showsProgress },
        LineCase("--timing", .timing) { $0.timing == .text },
        LineCase("--timing=json", .timing) { $0.timing == .json },
        LineCase("--certs", .certificates) { $0.listsCertificates },
        LineCase("--events", .events) { $0.reportsEvents },
        LineCase("--to-curl", .toCurl) { $0.printsCurl },
        LineCase("--show-secrets", .showSecrets) { $0.showsSecrets },
        LineCase("-N", .stream) { $0.streamsContent },
        LineCase("--sse", .serverSentEvents) { $0.followsEvents },
    ]

    /// Further options that command lines of curl and HTTPie often have.
    static let everyday: [LineCase] = [
        LineCase("--url-query a=b", .urlQuery) { $0.urlQueryValues == ["a=b"] },
        LineCase("-F a=@b --form-string a=@b", .formString) {
            $0.formParts == ["a=@b", "a=@b"] && $0.literalPartIndices == [1]
        },
        LineCase("-r 0-4,9-", .range) { $0.range == "0-4,9-" },
        LineCase("-z 2024-01-02", .timeCondition) { $0.timeCondition == "2024-01-02" },
        LineCase("--etag-compare f", .etagCompare) { $0.etagCompareFile == "f" },
        LineCase("--etag-save f", .etagSave) { $0.etagSaveFile == "f" },
        LineCase("--path-as-is", .pathAsIs) { $0.keepsDotSegments },
        LineCase("--default-scheme HTTPS", .defaultScheme) { $0.defaultScheme == "https" },
        LineCase("--proto-default https", .defaultScheme) { $0.defaultScheme == "https" },
        LineCase("-g", .globOff) { $0 == Invocation(urls: $0.urls) },
        LineCase("--digest --basic", .basic) { !$0.usesDigest },
        LineCase("--anyauth", .anyAuth) { $0.usesDigest && $0.authType == .any },
        LineCase("--auth-type digest", .authType) { $0.usesDigest && $0.authType == .digest },
        LineCase("--auth-type bearer --auth t:u", .authType) { $0.token == "t:u" },
        LineCase("--oauth2-bearer t", .bearer) { $0.token == "t" },
        LineCase("--netrc-file f", .netrcFile) { $0.readsNetrc && $0.netrcFile == "f" },
        LineCase("--netrc-optional", .netrcOptional) { $0.readsNetrc && $0.isNetrcOptional },
        LineCase("--digest -n --ignore-netrc", .ignoreNetrc) { !$0.readsNetrc && $0.usesDigest },
        LineCase("--session-read-only me", .sessionReadOnly) {
            $0.userSessionName == "me" && !$0.savesSession
        },
        LineCase("-x p -U me:pw", .proxyUser) { $0.proxyUser == "me:pw" },
        LineCase("--proxy http:http://p:1 --proxy https:socks5h://s:2", .proxy) {
            $0.schemeProxies == ["http_proxy": "http://p:1", "https_proxy": "socks5h://s:2"]
                && $0.proxy == nil
        },
        LineCase("--socks5-hostname p:1080", .socks) { $0.proxy == "socks5h://p:1080" },
        LineCase("--connect-to a.test:80:[::1]:81", .connectTo) {
            $0.connectToRules == [.init(host: "a.test", port: 80, newHost: "::1", newPort: 81)]
        },
        LineCase("--connect-to ::b.test:", .connectTo) { $0.connectToRules == [.init(newHost: "b.test")] },
        LineCase("-4", .ipv4) { $0.addressFamily == .ipv4 },
        LineCase("-6", .ipv6) { $0.addressFamily == .ipv6 },
        LineCase("--max-filesize 2k", .maximumFileSize) { $0.maximumFileSize == 2048 },
        LineCase("--retry-all-errors", .retryAllErrors) { $0.retriesAllErrors },
        LineCase("--retry-connrefused", .retryRefused) { $0.retriesRefused },
        LineCase("--retry-delay 2", .retryDelay) { $0.retryDelay == 2 },
        LineCase("--retry-max-time 9", .retryMaximumTime) { $0.retryMaximumTime == 9 },
        LineCase("--proto =https", .protocols) { $0.protocols.schemes == ["https"] },
        LineCase("--proto -all,http,+ws,ftp", .protocols) { $0.protocols.schemes == ["http", "ws"] },
        LineCase("--proto-redir =https", .redirectProtocols) { $0.redirectProtocols.schemes == ["https"] },
        LineCase("-Z", .parallel) { $0 == Invocation(urls: $0.urls) },
        LineCase("--verify no", .verify) { $0.isInsecure },
        LineCase("--verify=roots.pem", .verify) { $0.authoritiesFile == "roots.pem" && !$0.isInsecure },
        LineCase("--verify yes", .verify) { !$0.isInsecure && $0.authoritiesFile == nil },
        LineCase("--tls-max 1.2", .maximumTLS) { !$0.allowsTLS13 },
        LineCase("--ssl tls1.2", .tlsVersion) { !$0.allowsTLS13 && !$0.needsTLS13 },
        LineCase("--ssl tls1.3", .tlsVersion) { $0.allowsTLS13 && $0.needsTLS13 },
        LineCase("--ciphers A:B", .ciphers) { $0.ciphers == "A:B" },
        LineCase("--tls13-ciphers C", .cipherSuites) { $0.cipherSuites == "C" },
        LineCase("--fail-with-body", .failWithBody) { $0.failsOnErrorStatus && $0.failsWithBody },
        LineCase("--offline", .offline) { $0.isOffline },
        LineCase("--all", .all) { $0.showsRedirectHeads },
        LineCase("--unsorted", .unsorted) { $0 == Invocation(urls: $0.urls) },
        LineCase("--quiet", .quiet) { $0.printedParts == [] && !$0.isSilent },
        LineCase("--download", .download) { $0.destinations == [.remoteName] && $0.usesServerFileName },
        LineCase("--download", .download) {
            $0.followsRedirects && $0.failsOnErrorStatus && !$0.failsWithBody
        },
        LineCase("--download -o f", .download) { $0.destinations == [.file("f")] && !$0.usesServerFileName },
        LineCase("--download --continue -o f", .continueDownload) { $0.resumption == .automatic },
        LineCase("--remote-name-all -O", .remoteNameAll) { $0.destinations.first == .remoteName },
        LineCase("--create-dirs", .createFolders) { $0.createsFolders },
        LineCase("--output-dir d", .outputFolder) { $0.outputFolder == "d" },
        LineCase("-R", .remoteTime) { $0.setsModificationDate },
        LineCase("-#", .progressBar) { $0 == Invocation(urls: $0.urls) },
        LineCase("--cert f --cert-key k --cert-key-pass p", .key) {
            $0.keyFile == "k" && $0.keyPassword == "p"
        },
    ]
}

/// Tests of the parser of the command line.
struct CommandLineReaderTests {
    private func invocation(_ words: [String]) throws -> Invocation {
        guard case .fetch(let invocation) = try CommandLineReader.read(words) else {
            throw UsageError("no fetch")
        }
        return invocation
    }

    @Test(arguments: LineCase.all + LineCase.everyday)
    func optionsSetProperties(_ row: LineCase) throws {
        let invocation = try invocation(row.words)
        #expect(row.isExpected(invocation))
        #expect(invocation.urls == ["h.test"])
    }

    @Test func everyOptionHasALineCase() {
        // The options that other tests cover.
        let others: Set<OptionName> = [.help, .version, .url, .next]
        let covered = Set((LineCase.all + LineCase.everyday).map(\.option)).union(others)
        #expect(covered == Set(OptionName.allCases))
    }

    @Test func urlsMayBeGivenByAnOption() throws {
        #expect(try invocation(["--url", "h.test"]).urls == ["h.test"])
        #expect(try invocation(["POST", "--url", "h.test"]).urls == ["h.test"])
        #expect(try invocation(["--url", "POST"]).urls == ["POST"])
    }

    @Test(arguments: [
        ("--url b.test h.test a==b", ["b.test", "h.test"]), ("h.test --url b.test", ["h.test", "b.test"]),
        ("--url a.test -o x --url b.test -o y", ["a.test", "b.test"]),
        ("--url a.test -o x http://b.test -o y", ["a.test", "http://b.test"]),
        ("POST h.test --url b.test http://c.test", ["h.test", "b.test", "http://c.test"]),
        ("--url a.test POST h.test", ["a.test", "h.test"]),
    ])
    func urlsKeepTheirOrder(_ line: String, _ urls: [String]) throws {
        let invocation = try invocation(line.split(separator: " ").map(String.init))
        #expect(invocation.urls == urls && invocation.method == (line.contains("POST") ? "POST" : nil))
    }

    @Test func requestsAreSeparatedByNext() throws {
        let words = ["-s", "-d", "a", "h.test", "--next", "-X", "PUT", "b.test", "--next", "c.test"]
        guard case .series(let invocations) = try CommandLineReader.read(words) else {
            throw UsageError("no series")
        }
        #expect(invocations.map(\.urls) == [["h.test"], ["b.test"], ["c.test"]])
        #expect(invocations.map(\.method) == [nil, "PUT", nil])
        #expect(invocations.map(\.dataValues.count) == [1, 0, 0])
        #expect(invocations.map(\.isSilent) == [true, true, true])
        #expect(throws: UsageError.self) { _ = try CommandLineReader.read(["h.test", "--next"]) }
    }

    @Test(arguments: [
        (["--json", "{\"a\": 1}", "h.test"], "{\"a\": 1}"), (["--json", "@f", "h.test"], "@f"),
        (["h.test", "--json", "[1]"], "[1]"), (["POST", "--json", "@f", "h.test"], "@f"),
        (["--url", "h.test", "--json", "@f"], "@f"),
    ])
    func jsonOfCurlIsABody(_ words: [String], _ text: String) throws {
        let invocation = try invocation(words)
        #expect(invocation.dataValues == [.init(kind: .json, text: text)] && invocation.itemFormat == .json)
        #expect(invocation.urls == ["h.test"] && invocation.items.isEmpty && invocation.acceptsJSONAlone)
    }

    @Test(arguments: [["--json", "h.test"], ["--json", "[::1]:80/x"], ["h.test", "--json", "@f"]])
    func jsonOfHTTPieHasNoValue(_ words: [String]) throws {
        let invocation = try invocation(words)
        #expect(invocation.dataValues.isEmpty && invocation.itemFormat == .json && invocation.urls.count == 1)
    }

    @Test func unsupportedOptionsHaveNoNameOfAnOption() {
        let names = ForeignOption.all.flatMap(\.names)
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(OptionTable.option(long: name) == nil, "\(name)")
            if name.count == 1, let letter = name.first {
                #expect(OptionTable.option(short: letter) == nil, "\(name)")
            }
            #expect((try? HelpPage.page(for: name.count == 1 ? "-\(name)" : "--\(name)")) != nil)
        }
    }

    @Test(
        arguments: [
            ("h.test", nil, ["h.test"]), ("GET h.test", "GET", ["h.test"]),
            ("post h.test a=b", "POST", ["h.test"]),
            ("PURGE h.test", "PURGE", ["h.test"]), ("POST", nil, ["POST"]), (":80/x", nil, [":80/x"]),
            ("h.test http://b.test/", nil, ["h.test", "http://b.test/"]), ("-- -h.test", nil, ["-h.test"]),
            ("-I h.test -f", nil, ["h.test"]),
        ] as [(String, String?, [String])])
    func methodAndURLsAreParsed(_ line: String, _ method: String?, _ urls: [String]) throws {
        let invocation = try invocation(line.split(separator: " ").map(String.init))
        #expect(invocation.method == method)
        #expect(invocation.urls == urls)
    }

    @Test(arguments: [
        ("A:b", RequestItem.header("A", "b")), ("A: b", .header("A", "b")), ("A:", .withoutHeader("A")),
        ("A;", .emptyHeader("A")), ("a==b", .query("a", "b")), ("a==", .query("a", "")),
        ("a=b", .field("a", "b")),
        ("a=", .field("a", "")), ("a=b:c", .field("a", "b:c")), ("a:=3", .json("a", "3")),
        ("a:=[1]", .json("a", "[1]")),
        ("a@f", .file("a", path: "f", type: nil)), ("a@f;type=x/y", .file("a", path: "f", type: "x/y")),
        ("@f", .file("", path: "f", type: nil)), ("a=@f", .textFile("a", path: "f")),
        ("a:=@f", .jsonFile("a", path: "f")), ("a\\:b=c", .field("a:b", "c")),
        ("a\\=b==c", .query("a=b", "c")),
        ("a\\@b:c", .header("a@b", "c")), ("a\\\\=b", .field("a\\", "b")),
        ("X-Date:12:30", .header("X-Date", "12:30")),
    ])
    func itemsAreParsed(_ text: String, _ item: RequestItem) throws {
        #expect(try RequestItem(text) == item)
    }

    @Test(arguments: [
        ("", "a URL is missing"), ("-X", "-X METHOD"), ("h.test -o", "-o FILE"), ("--colr h.test", "--color"),
        ("-Q h.test", "-Q"), ("GET h.test a=b", "-X POST"), ("GET h.test -d a", "-X POST"),
        ("-X GET h.test --raw a", "-X POST"),
        ("-I h.test -d a", "-I"), ("h.test a=b -d c", "both make a body"),
        ("h.test -F a=b --raw c", "both make a body"),
        ("h.test plain", "no item"), ("h.test =x", "before its `=`"), ("-G h.test", "-d"),
        ("--retry x h.test", "--retry"),
        ("--max-redirs 21 h.test", "20"), ("--print x h.test", "--print"), ("--color blue h.test", "auto"),
        ("--timing=xml h.test", "json"), ("-C - h.test", "-o FILE"), ("-C x -o f h.test", "-C"),
        ("-J h.test", "-O"),
        ("--key k h.test", "--cert"), ("--resolve a:b h.test", "HOST:PORT:ADDRESS"),
        ("-H nothing h.test", "-H"),
        ("-F x h.test", "-F"), ("-m soon h.test", "-m"), ("--limit-rate fast h.test", "200k"),
        ("-o a -o b h.test", "give one each"),
        ("-L=1 h.test", "-="), ("--location=1 h.test", "no value"), ("POST h.test -X PUT", "two methods"),
        ("-X A/B h.test", "no method"), ("completions tcsh", "bash"),
        ("ws://a.test/ http://b.test/", "one URL"), ("--sse http://a.test/ http://b.test/", "one URL"),
        ("--trace-ascii - h.test", "--events"), ("-0 h.test", "HTTP/1.1"),
        ("--http3 h.test", "--http2"), ("--http1.0 h.test", "leave the option away"),
        ("--ntlm -u a:b h.test", "--digest"),
        ("--form a=b h.test", "-F"), ("--raw h.test", "--raw-encoding"), ("-U a:b h.test", "-x"),
        ("-r 1-2 -C - -o f h.test", "-C"), ("-r x h.test", "0-99"), ("--connect-to a:b h.test", "HOST1"),
        ("--default-scheme ftp h.test", "https"), ("--max-filesize x h.test", "200k"),
        ("--retry-delay x h.test", "--retry-delay"), ("--form-string a h.test", "NAME=CONTENT"),
    ])
    func usageErrorsNameARemedy(_ line: String, _ remedy: String) {
        let error = #expect(throws: UsageError.self) {
            _ = try CommandLineReader.read(line.split(separator: " ").map(String.init))
        }
        #expect(error?.description.contains(remedy) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("\n") == false)
    }

    @Test(
        arguments: [
            ("1", 1), ("1k", 1024), ("1.5K", 1536), ("2M", 2_097_152), ("1g", 1_073_741_824), ("7b", 7),
            ("0", nil),
            ("-1", nil), ("x", nil), ("", nil), ("k", nil), ("inf", nil), ("1e30", nil),
        ] as [(String, Int?)])
    func ratesAreParsed(_ text: String, _ bytes: Int?) { #expect(Quantity.bytes(text) == bytes) }

    @Test(arguments: [
        ("help", CommandLineReader.Action.explain(nil)), ("help -X", .explain("-X")), ("--help", .help),
        ("-h", .help),
        ("-V", .version), ("version", .version), ("manual", .manual),
        ("completions zsh", .completions("zsh")),
        ("serve --tls", .serve(["--tls"])), ("demo", .demo([])), ("serve --help", .explain("serve")),
        ("h.test --help", .help),
    ])
    func subcommandsAreParsed(_ line: String, _ action: CommandLineReader.Action) throws {
        #expect(try CommandLineReader.read(line.split(separator: " ").map(String.init)) == action)
    }
}
