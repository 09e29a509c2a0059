// SPDX-License-Identifier: MIT

/// A command line that was understood: what to do, as a value. Nothing of it has been tried yet.
public struct Invocation: Hashable, Sendable {
    /// What of a message is printed, by the letters of `--print`.
    public struct Parts: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let requestHead = Parts(rawValue: 1)
        public static let requestBody = Parts(rawValue: 2)
        public static let responseHead = Parts(rawValue: 4)
        public static let responseBody = Parts(rawValue: 8)
        public static let metrics = Parts(rawValue: 16)
    }

    /// A piece of `-d` and its relatives.
    public struct DataPiece: Hashable, Sendable {
        public enum Kind: Hashable, Sendable { case text, raw, binary, urlEncode }
        public var kind: Kind
        public var text: String
    }

    /// What items become.
    public enum ItemForm: Hashable, Sendable { case json, form, multipart }
    /// Where a response is saved.
    public enum Destination: Hashable, Sendable {
        case file(String)
        case remoteName
    }
    /// Where a download goes on.
    public enum Resumption: Hashable, Sendable {
        case automatic
        case offset(Int64)
    }
    /// Whether something is done.
    public enum Choice: String, Hashable, Sendable { case auto, always, never }
    /// How JSON is printed.
    public enum Pretty: String, Hashable, Sendable { case all, colors, format, none }
    /// How what was measured is printed.
    public enum Report: String, Hashable, Sendable { case text, json }
    /// An address in place of a look-up.
    public struct Override: Hashable, Sendable {
        public var host: String
        public var port: UInt16
        public var addresses: [String]
    }

    // MARK: what is sent

    /// The method that was asked for.
    public var method: String?
    /// The URLs as they were typed.
    public var urls: [String] = []
    public var items: [RequestItem] = []
    public var itemForm: ItemForm?
    public var data: [DataPiece] = []
    public var parts: [String] = []
    public var raw: String?
    public var upload: String?
    public var putsDataIntoQuery = false
    public var asksForHead = false
    /// The lines of -H, as they were typed.
    public var headers: [String] = []
    public var userAgent: String?
    public var referer: String?
    public var keepsEncoding = false
    public var ignoresStandardInput = false

    // MARK: who asks

    public var user: String?
    public var usesDigest = false
    public var readsNetrc = false
    public var cookies: [String] = []
    public var cookieJar: String?
    public var session: String?

    // MARK: how it gets there

    public var followsRedirects = false
    public var redirectLimit: Int?
    public var proxy: String?
    public var noProxy: String?
    public var overrides: [Override] = []
    public var unixSocket: String?
    public var interface: String?
    public var connectTimeout: Double?
    public var maximumTime: Double?
    public var retries = 0
    public var rate: Int?

    // MARK: TLS

    public var isInsecure = false
    public var authorities: String?
    public var certificate: String?
    public var key: String?
    public var keyPassword: String?
    public var pins: [String] = []
    public var needsTLS13 = false

    // MARK: what is printed

    public var includesHead = false
    public var print: Parts?
    public var isVerbose = false
    public var isSilent = false
    public var showsErrors = false
    public var fails = false
    public var writeOut: String?
    public var headFile: String?
    public var color = Choice.auto
    public var pretty: Pretty?
    public var destinations: [Destination] = []
    public var takesServersName = false
    public var resumption: Resumption?
    public var showsProgress = true

    // MARK: what else is told

    public var timing: Report?
    public var listsCertificates = false
    public var tellsEvents = false
    public var printsCurl = false
    public var showsSecrets = false
    public var streams = false
    public var followsEvents = false

    public init() {}
}

extension Invocation.Parts {
    /// The letters of `--print`; nil when one is none.
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
