// SPDX-License-Identifier: MIT

/// A command line that was understood: what to do, as a value. Nothing of it has been tried yet.
struct Invocation: Hashable, Sendable {
    /// What of a message is printed, by the letters of `--print`.
    struct Parts: OptionSet, Hashable, Sendable {
        let rawValue: Int

        static let requestHead = Parts(rawValue: 1)
        static let requestBody = Parts(rawValue: 2)
        static let responseHead = Parts(rawValue: 4)
        static let responseBody = Parts(rawValue: 8)
        static let metrics = Parts(rawValue: 16)
    }

    /// A piece of `-d` and its relatives.
    struct DataPiece: Hashable, Sendable {
        enum Kind: Hashable, Sendable { case text, raw, binary, urlEncode }
        var kind: Kind
        var text: String
    }

    /// What items become.
    enum ItemForm: Hashable, Sendable { case json, form, multipart }
    /// Where a response is saved.
    enum Destination: Hashable, Sendable {
        case file(String)
        case remoteName
    }
    /// Where a download goes on.
    enum Resumption: Hashable, Sendable {
        case automatic
        case offset(Int64)
    }
    /// Whether something is done.
    enum Choice: String, Hashable, Sendable { case auto, always, never }
    /// How JSON is printed.
    enum Pretty: String, Hashable, Sendable { case all, colors, format, none }
    /// How what was measured is printed.
    enum Report: String, Hashable, Sendable { case text, json }
    /// An address in place of a look-up.
    struct Override: Hashable, Sendable {
        var host: String
        var port: UInt16
        var addresses: [String]
    }

    // MARK: what is sent

    /// The method that was asked for.
    var method: String?
    /// The URLs as they were typed.
    var urls: [String] = []
    var items: [RequestItem] = []
    var itemForm: ItemForm?
    var data: [DataPiece] = []
    var parts: [String] = []
    var raw: String?
    var upload: String?
    var putsDataIntoQuery = false
    var asksForHead = false
    /// The lines of -H, as they were typed.
    var headers: [String] = []
    var userAgent: String?
    var referer: String?
    var keepsEncoding = false
    var ignoresStandardInput = false

    // MARK: who asks

    var user: String?
    var usesDigest = false
    var readsNetrc = false
    var cookies: [String] = []
    var cookieJar: String?
    var session: String?

    // MARK: how it gets there

    var followsRedirects = false
    var redirectLimit: Int?
    var refusesDowngrade = false
    var proxy: String?
    var noProxy: String?
    var overrides: [Override] = []
    var unixSocket: String?
    var interface: String?
    var connectTimeout: Double?
    var maximumTime: Double?
    var retries = 0
    var rate: Int?

    // MARK: TLS

    var isInsecure = false
    var authorities: String?
    var certificate: String?
    var key: String?
    var keyPassword: String?
    var pins: [String] = []
    var needsTLS13 = false

    // MARK: what is printed

    var includesHead = false
    var print: Parts?
    var isVerbose = false
    var isSilent = false
    var showsErrors = false
    var fails = false
    var writeOut: String?
    var headFile: String?
    var color = Choice.auto
    var pretty: Pretty?
    var destinations: [Destination] = []
    var takesServersName = false
    var resumption: Resumption?
    var showsProgress = true
    /// Whether a file that content is saved to begins with the head.
    var savesHead: Bool { includesHead || asksForHead }

    // MARK: what else is told

    var timing: Report?
    var listsCertificates = false
    var tellsEvents = false
    var printsCurl = false
    var showsSecrets = false
    var streams = false
    var followsEvents = false

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
