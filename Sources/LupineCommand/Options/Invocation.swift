// SPDX-License-Identifier: MIT

/// A parsed command line: the URLs with the method, the items and the options for them. --next separates several invocations.
///
/// Each property has the value of its option, or else the default.
struct Invocation: Hashable, Sendable {
    /// The parts of messages to print, by the letters of `--print`. The metrics are the times and sizes of a transfer.
    struct MessageParts: OptionSet, Hashable, Sendable {
        let rawValue: Int

        static let requestHead = MessageParts(rawValue: 1)
        static let requestBody = MessageParts(rawValue: 2)
        static let responseHead = MessageParts(rawValue: 4)
        static let responseBody = MessageParts(rawValue: 8)
        static let metrics = MessageParts(rawValue: 16)
    }

    /// One value of `-d` or a related option.
    struct DataValue: Hashable, Sendable {
        /// The option, which decides how the value becomes a part of the body.
        enum Kind: Hashable, Sendable {
            /// -d.
            case text
            /// --data-raw.
            case raw
            /// --data-binary.
            case binary
            /// --data-urlencode.
            case urlEncode
            /// curl's --json DATA.
            case json
        }
        var kind: Kind
        /// The value as typed.
        var text: String
    }

    /// The format of the body that is built from items: a JSON object, a URL-encoded form or a multipart form.
    enum ItemFormat: Hashable, Sendable { case json, form, multipart }
    /// Where a response is saved.
    enum Destination: Hashable, Sendable {
        /// The file of -o, as typed.
        case file(String)
        /// A file whose name is taken from the URL or, with -J, from the response (-O).
        case remoteName
    }
    /// The offset at which a download resumes (-C).
    enum ResumeOffset: Hashable, Sendable {
        /// The length of the file (`-C -`).
        case automatic
        /// This number of bytes.
        case offset(Int64)
    }
    /// When colours are used: if the output is a terminal, always, or never.
    enum ColorChoice: String, Hashable, Sendable { case auto, always, never }
    /// How JSON is printed (--pretty): with colours and line breaks, with colours, with line breaks, or as it is.
    enum Pretty: String, Hashable, Sendable { case all, colors, format, none }
    /// The format of a timing report.
    enum TimingFormat: String, Hashable, Sendable { case text, json }
    /// A server to connect to in place of a URL's host and port (--connect-to).
    struct ConnectToRule: Hashable, Sendable {
        /// The URL's host; nil for any.
        var host: String?
        /// The URL's port; nil for any.
        var port: UInt16?
        /// The host to connect to; nil for the URL's.
        var newHost: String?
        /// The port to connect to; nil for the URL's.
        var newPort: UInt16?
    }
    /// The authentication scheme. With `any`, the server's challenge decides.
    enum AuthType: String, Hashable, Sendable { case basic, digest, bearer, any }
    /// The address family of connections.
    enum AddressFamily: Hashable, Sendable { case ipv4, ipv6 }
    /// The HTTP versions that may be used: only HTTP/1.1, both versions, or only HTTP/2.
    enum HTTPVersions: Hashable, Sendable { case http11, both, http2 }
    /// Addresses to use in place of a name look-up (--resolve).
    struct AddressOverride: Hashable, Sendable {
        /// The URL's host; `*` for any.
        var host: String
        /// The URL's port.
        var port: UInt16
        /// IP addresses as typed, without brackets.
        var addresses: [String]
    }

    // MARK: content and fields

    /// The method of -X or before the URL; nil if the command chooses one.
    var method: String?
    /// The URLs as typed.
    var urls: [String] = []
    /// The items after the URL.
    var items: [RequestItem] = []
    /// The format of --json, --form or --multipart; nil without one of them.
    var itemFormat: ItemFormat?
    /// The values of -d and related options.
    var dataValues: [DataValue] = []
    /// The parts of -F and --form-string, as typed. The parser has checked that each has an equals sign after a name.
    var formParts: [String] = []
    /// The body of --raw.
    var rawBody: String?
    /// The file of -T, as typed.
    var uploadFile: String?
    /// Whether the data of -d goes into the query (-G).
    var putsDataIntoQuery = false
    /// Whether a HEAD request is sent (-I).
    var asksForHead = false
    /// The values of -H, as typed: lines such as `Name: value`, or `@FILE` for the lines of a file.
    var headerLines: [String] = []
    /// The value of -A. Empty if no `User-Agent` is sent, nil for the default.
    var userAgent: String?
    /// The value of -e.
    var referer: String?
    /// Whether no content coding is requested or decoded (--raw-encoding).
    var keepsEncoding = false
    /// Whether the standard input is not read as a body (--ignore-stdin).
    var ignoresStandardInput = false
    /// The values of --url-query, as typed.
    var urlQueryValues: [String] = []
    /// The indices of those `formParts` that --form-string gave. No character has a special meaning in them.
    var literalPartIndices: Set<Int> = []
    /// The byte ranges of -r.
    var range: String?
    /// The date or the file of -z, as typed. A minus sign before it inverts the condition.
    var timeCondition: String?
    /// The file of --etag-compare.
    var etagCompareFile: String?
    /// The file of --etag-save.
    var etagSaveFile: String?
    /// Whether `/../` and `/./` stay in the path (--path-as-is).
    var keepsDotSegments = false
    /// The scheme of URLs that are typed without one (--default-scheme).
    var defaultScheme = "http"
    /// Whether `Accept` names only JSON, as with curl's --json DATA.
    var acceptsJSONAlone = false

    // MARK: identity

    /// The value of -u: `USER`, `USER:PASSWORD`, or the token of --auth-type bearer.
    var user: String?
    /// Whether credentials are sent only as the answer to a challenge, and not with the first request. This follows from
    /// `authType`: it is true for `digest` and `any`.
    var usesDigest = false
    var authType = AuthType.basic
    /// The token of --oauth2-bearer.
    var bearerToken: String?
    /// The file of --netrc-file; nil for the default file.
    var netrcFile: String?
    /// Whether the .netrc file need not exist (--netrc-optional).
    var isNetrcOptional = false
    /// Whether changes of the user's session (--session) are saved; false for --session-read-only.
    var savesSession = true
    /// Whether credentials are read from a .netrc file (-n and its related options).
    var readsNetrc = false
    /// The values of -b, as typed: pairs such as `a=b`, or file names.
    var cookies: [String] = []
    /// The file of -c, to which the cookies are written at the end.
    var cookieJar: String?
    /// The name or the path of --session or --session-read-only. A session keeps cookies and header fields between runs of the
    /// command.
    var userSessionName: String?

    // MARK: network

    /// Whether redirects are followed (-L).
    var followsRedirects = false
    /// The maximum number of redirects (--max-redirs); nil for the default.
    var redirectLimit: Int?
    /// Whether redirects from https to http are not followed (--no-downgrade).
    var refusesDowngrade = false
    /// The URL of -x, as typed; empty for no proxy.
    var proxy: String?
    /// The hosts that need no proxy (--noproxy), separated by commas.
    var noProxy: String?
    /// The addresses of --resolve.
    var addressOverrides: [AddressOverride] = []
    /// The path of --unix-socket, as typed.
    var unixSocket: String?
    /// The local address or the network interface of --interface.
    var interface: String?
    var httpVersions = HTTPVersions.both
    /// The seconds of --connect-timeout.
    var connectTimeout: Double?
    /// The seconds of -m.
    var maximumTime: Double?
    /// The maximum number of retries (--retry).
    var retryLimit = 0
    /// The bytes per second of --limit-rate.
    var rateLimit: Int?
    /// The credentials for the proxy of -x, as typed (-U).
    var proxyUser: String?
    /// Proxies for the URLs of one scheme, under the names of the environment variables such as `http_proxy`.
    var schemeProxies: [String: String] = [:]
    var connectToRules: [ConnectToRule] = []
    /// The family of -4 or -6; nil for both.
    var addressFamily: AddressFamily?
    /// The maximum length of the content in bytes (--max-filesize).
    var maximumFileSize: Int64?
    /// Whether failures that may be permanent are retried too (--retry-all-errors).
    var retriesAllErrors = false
    /// Whether a refused connection is retried (--retry-connrefused).
    var retriesRefused = false
    /// The seconds of --retry-delay.
    var retryDelay: Double?
    /// The seconds of --retry-max-time.
    var retryMaximumTime: Double?
    /// The schemes that URLs of the command line may have.
    var protocols = ProtocolSet.all
    /// The schemes that redirects may lead to.
    var redirectProtocols = ProtocolSet.web

    // MARK: TLS

    /// Whether certificates are not checked (-k).
    var isInsecure = false
    /// The file of --cacert.
    var authoritiesFile: String?
    /// The value of --cert, as typed.
    var certificate: String?
    /// The file of --key, with the private key of the client certificate.
    var keyFile: String?
    /// The password of the private key (--pass).
    var keyPassword: String?
    /// The public keys that the server's chain must contain one of, as `sha256/BASE64` (--pin).
    var pins: [String] = []
    /// Whether TLS 1.3 is the lowest version that may be used.
    var needsTLS13 = false
    /// Whether TLS 1.3 may be used; otherwise TLS 1.2 is the highest version.
    var allowsTLS13 = true
    /// The ciphers up to TLS 1.2 (--ciphers).
    var ciphers: String?
    /// The cipher suites of TLS 1.3 (--tls13-ciphers).
    var cipherSuites: String?

    // MARK: output

    /// Whether the head of the response is printed or saved before the content (-i).
    var includesHead = false
    /// The parts of --print or a related option; nil if other options and the output decide.
    var printedParts: MessageParts?
    /// Whether all heads and the connections are printed (-v).
    var isVerbose = false
    /// Whether events of HTTP/2 connections are printed too (-vv).
    var reportsHTTP2Events = false
    /// Whether neither progress nor errors are printed (-s).
    var isSilent = false
    /// Whether errors are printed in spite of -s (-S).
    var showsErrors = false
    /// Whether a status from 400 on is a failure (-f).
    var failsOnErrorStatus = false
    /// Whether the body of a response with a status from 400 on is printed nevertheless (--fail-with-body).
    var failsWithBody = false
    /// Whether requests are printed and not sent (--offline).
    var isOffline = false
    /// Whether the heads of redirects are printed (--all).
    var showsRedirectHeads = false
    /// Whether HTTPie's --download is given: the content is saved, and redirects are followed.
    var isDownload = false
    /// Whether all URLs without -o are saved (--remote-name-all).
    var savesAllURLs = false
    /// Whether missing folders of the destinations are created (--create-dirs).
    var createsFolders = false
    /// The folder of --output-dir, to which the destinations are relative.
    var outputFolder: String?
    /// Whether a saved file gets the date of Last-Modified (-R).
    var setsModificationDate = false
    /// The format of -w.
    var writeOutFormat: String?
    /// The file of -D, to which response heads are written.
    var headFile: String?
    var color = ColorChoice.auto
    /// The value of --pretty; nil if the output decides.
    var pretty: Pretty?
    /// The destinations of -o and -O. The first is for the first URL, and so on; a single -O is for all URLs.
    var destinations: [Destination] = []
    /// Whether -O uses the name that the server gives (-J).
    var usesServerFileName = false
    /// The offset of -C; nil if no download is resumed.
    var resumption: ResumeOffset?
    /// Whether a download or an upload shows its progress.
    var showsProgress = true
    /// Whether the saved file begins with the head (-i, -I).
    var savesHead: Bool { includesHead || asksForHead }

    // MARK: reports

    /// The format of --timing; nil if no times are printed.
    var timing: TimingFormat?
    /// Whether the server's certificates are printed (--certs).
    var listsCertificates = false
    /// Whether the events of requests are printed (--events).
    var reportsEvents = false
    /// Whether curl lines are printed and nothing is sent (--to-curl).
    var printsCurl = false
    /// Whether reports show passwords, tokens and cookies (--show-secrets).
    var showsSecrets = false
    /// Whether content is printed while it arrives, and JSON line by line (-N).
    var streamsContent = false
    /// Whether the response is a stream of server-sent events (--sse).
    var followsEvents = false
}

/// A set of URL schemes that may be loaded (--proto, --proto-redir).
struct ProtocolSet: Hashable, Sendable {
    /// All schemes that the command can load.
    static let all = ProtocolSet(["http", "https", "ws", "wss", "file", "data"])
    /// The schemes that redirects may lead to by default.
    static let web = ProtocolSet(["http", "https", "ws", "wss"])

    private(set) var schemes: Set<String>

    private init(_ schemes: Set<String>) { self.schemes = schemes }

    /// Returns whether a scheme is in the set, regardless of case; false for nil.
    func contains(_ scheme: String?) -> Bool { scheme.map { schemes.contains($0.lowercased()) } ?? false }

    /// Applies changes such as `=https`, `-http`, `+file` or `https`, separated by commas, one after the other. `=` replaces the
    /// set, `-` removes from it, and `+` or no sign adds to it. Unknown schemes are ignored; `all` stands for all schemes.
    mutating func apply(_ changes: String) {
        for change in changes.lowercased().split(separator: ",") {
            // Nil if the change begins with the scheme.
            let sign = change.first.flatMap { "=+-".contains($0) ? $0 : nil }
            let name = sign == nil ? change : change.dropFirst()
            let knownSchemes = Self.all.schemes
            let namedSchemes = name == "all" ? knownSchemes : knownSchemes.intersection([String(name)])
            switch sign {
            case "=": schemes = namedSchemes
            case "-": schemes.subtract(namedSchemes)
            default: schemes.formUnion(namedSchemes)
            }
        }
    }
}

extension Invocation.MessageParts {
    /// Parses the letters of `--print`; nil if one is unknown.
    init?(letters: String) {
        self = []
        for letter in letters {
            switch letter {
            case "H": insert(.requestHead)
            case "B": insert(.requestBody)
            case "h": insert(.responseHead)
            case "b": insert(.responseBody)
            case "m": insert(.metrics)
            default: return nil
            }
        }
    }
}
