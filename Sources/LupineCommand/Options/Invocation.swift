// SPDX-License-Identifier: MIT

/// A parsed command line, or with --next the part for one request. The properties are the values of the options or
/// their defaults.
struct Invocation: Hashable, Sendable {
    /// The parts of messages to print, by the letters of `--print`.
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
        /// The option: -d, --data-raw, --data-binary, --data-urlencode or curl's --json.
        enum Kind: Hashable, Sendable { case text, raw, binary, urlEncode, json }
        var kind: Kind
        var text: String
    }

    /// The format of the body that is built from items.
    enum ItemFormat: Hashable, Sendable { case json, form, multipart }
    /// Where a response is saved.
    enum Destination: Hashable, Sendable {
        /// The file of -o, as typed.
        case file(String)
        /// A file with the name of the URL or the server (-O).
        case remoteName
    }
    /// The offset at which a download resumes.
    enum ResumeOffset: Hashable, Sendable {
        /// The length of the file (`-C -`).
        case automatic
        /// A number of bytes.
        case offset(Int64)
    }
    /// When colours are used: if the output is a terminal, always, or never.
    enum ColorChoice: String, Hashable, Sendable { case auto, always, never }
    /// How JSON is printed.
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
    /// The authentication scheme.
    enum AuthType: String, Hashable, Sendable { case basic, digest, bearer, any }
    /// The address family of connections.
    enum AddressFamily: Hashable, Sendable { case ipv4, ipv6 }
    /// The HTTP versions that may be used; `http2` allows no other version.
    enum HTTPVersions: Hashable, Sendable { case http11, both, http2 }
    /// Addresses to use in place of a name look-up (--resolve).
    struct AddressOverride: Hashable, Sendable {
        var host: String
        var port: UInt16
        var addresses: [String]
    }

    // MARK: content and fields

    /// The method given by the user.
    var method: String?
    /// The URLs as typed.
    var urls: [String] = []
    /// The arguments after the URL.
    var items: [RequestItem] = []
    /// The format of --json, --form or --multipart.
    var itemFormat: ItemFormat?
    /// The values of -d and related options.
    var dataValues: [DataValue] = []
    /// The parts of -F and --form-string, as typed.
    var formParts: [String] = []
    /// The body of --raw.
    var rawBody: String?
    /// The file of -T, as typed.
    var uploadFile: String?
    /// Whether the data of -d goes into the query (-G).
    var putsDataIntoQuery = false
    /// Whether a HEAD request is sent (-I).
    var asksForHead = false
    /// The lines of -H, as typed.
    var headers: [String] = []
    var userAgent: String?
    var referer: String?
    /// Whether no content coding is requested or decoded (--raw-encoding).
    var keepsEncoding = false
    var ignoresStandardInput = false
    /// The values of --url-query.
    var queryParameters: [String] = []
    /// The indices of the `parts` of --form-string, in which no character has a special meaning.
    var literalPartIndices: Set<Int> = []
    /// The byte ranges of -r.
    var range: String?
    /// The date or the file of -z, as typed.
    var timeCondition: String?
    /// The file of --etag-compare.
    var etagCompareFile: String?
    /// The file of --etag-save.
    var etagSaveFile: String?
    /// Whether `/../` and `/./` stay in the path (--path-as-is).
    var keepsDotSegments = false
    var defaultScheme = "http"
    /// Whether `Accept` has only JSON, because curl's --json DATA is given.
    var acceptsJSONAlone = false

    // MARK: identity

    /// The value of -u: `USER`, `USER:PASSWORD`, or the token of --auth-type bearer.
    var user: String?
    var usesDigest = false
    var authType = AuthType.basic
    /// The token of --oauth2-bearer.
    var bearerToken: String?
    var netrcFile: String?
    var isNetrcOptional = false
    /// Whether changes of the session are saved; false for --session-read-only.
    var savesSession = true
    var readsNetrc = false
    /// The values of -b, as typed: pairs such as `a=b`, or file names.
    var cookies: [String] = []
    /// The file of -c.
    var cookieJar: String?
    /// The name or the path of --session.
    var userSessionName: String?

    // MARK: network

    var followsRedirects = false
    var redirectLimit: Int?
    /// Whether redirects from https to http are not followed (--no-downgrade).
    var refusesDowngrade = false
    var proxy: String?
    var noProxy: String?
    /// The addresses of --resolve.
    var addressOverrides: [AddressOverride] = []
    var unixSocket: String?
    /// The local address or the network interface of --interface.
    var interface: String?
    var httpVersions = HTTPVersions.both
    var connectTimeout: Double?
    var maximumTime: Double?
    /// The number of --retry.
    var retryLimit = 0
    /// The bytes per second of --limit-rate.
    var rateLimit: Int?
    var proxyUser: String?
    /// Proxies for the URLs of one scheme.
    var schemeProxies: [String: String] = [:]
    var connectToRules: [ConnectToRule] = []
    var addressFamily: AddressFamily?
    var maximumFileSize: Int64?
    var retriesAllErrors = false
    var retriesRefused = false
    var retryDelay: Double?
    var retryMaximumTime: Double?
    var protocols = ProtocolSet.all
    var redirectProtocols = ProtocolSet.web

    // MARK: TLS

    /// Whether certificates are not checked (-k).
    var isInsecure = false
    /// The file of --cacert.
    var authoritiesFile: String?
    /// The value of --cert, as typed.
    var certificate: String?
    /// The file of --key.
    var keyFile: String?
    var keyPassword: String?
    var pins: [String] = []
    var needsTLS13 = false
    var allowsTLS13 = true
    /// The ciphers up to TLS 1.2 (--ciphers).
    var ciphers: String?
    /// The cipher suites of TLS 1.3 (--tls13-ciphers).
    var cipherSuites: String?

    // MARK: output

    /// Whether the head is printed or saved before the content (-i).
    var includesHead = false
    /// The parts of --print or a related option.
    var printedParts: MessageParts?
    var isVerbose = false
    /// Whether HTTP/2 events are reported too.
    var reportsHTTP2Events = false
    var isSilent = false
    /// Whether errors are printed in spite of -s (-S).
    var showsErrors = false
    /// Whether a status from 400 on is a failure (-f).
    var failsOnErrorStatus = false
    var failsWithBody = false
    /// Whether requests are printed and not sent (--offline).
    var isOffline = false
    /// Whether the heads of redirects are printed (--all).
    var showsRedirectHeads = false
    /// HTTPie's --download.
    var isDownload = false
    /// Whether all URLs without -o are saved (--remote-name-all).
    var savesAllURLs = false
    var createsFolders = false
    var outputFolder: String?
    /// Whether a saved file gets the date of Last-Modified (-R).
    var setsModificationDate = false
    /// The format of -w.
    var writeOutFormat: String?
    /// The file of -D.
    var headFile: String?
    var color = ColorChoice.auto
    var pretty: Pretty?
    /// The destinations of -o and -O, in order.
    var destinations: [Destination] = []
    /// Whether -O uses the name that the server gives (-J).
    var usesServerFileName = false
    /// The offset of -C; nil if no download is resumed.
    var resumption: ResumeOffset?
    var showsProgress = true
    /// Whether the saved file begins with the head.
    var savesHead: Bool { includesHead || asksForHead }

    // MARK: reports

    var timing: TimingFormat?
    var listsCertificates = false
    /// Whether the events of requests are printed (--events).
    var reportsEvents = false
    /// Whether curl lines are printed and nothing is sent (--to-curl).
    var printsCurl = false
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

    /// Whether a scheme, in any case, is in the set; false for nil.
    func contains(_ scheme: String?) -> Bool { scheme.map { schemes.contains($0.lowercased()) } ?? false }

    /// Applies changes such as `=https`, `-http`, `+file` or `https`, separated by commas, one after the other. `=` replaces the
    /// set, `-` removes from it, and `+` or no sign adds to it.
    mutating func apply(_ text: String) {
        for part in text.lowercased().split(separator: ",") {
            let sign = part.first.flatMap { "=+-".contains($0) ? $0 : nil }
            let name = sign == nil ? part : part.dropFirst()
            let known = Self.all.schemes
            let namedSchemes = name == "all" ? known : known.intersection([String(name)])
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
