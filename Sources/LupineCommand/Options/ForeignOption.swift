// SPDX-License-Identifier: MIT

/// An option of curl or HTTPie that the command does not support, with advice what to use in its place. The parser and `lupine
/// help` print the advice.
struct ForeignOption: Sendable {
    /// The short and long names without dashes. Several options with the same advice share one row.
    let names: [String]
    /// What to use in place of the option: the end of a sentence, without a full stop.
    let advice: String

    private init(_ names: [String], _ advice: String) {
        self.names = names
        self.advice = advice
    }

    /// Returns the message about an option as typed, with its dashes; nil if the option is not in the list.
    static func message(for typedName: String) -> String? {
        let name = String(typedName.drop { $0 == "-" })
        return all.first { $0.names.contains(name) }.map { "\(typedName) is not taken: \($0.advice)" }
    }

    /// All options with advice: those of curl by topic, then those of HTTPie alone.
    static let all: [ForeignOption] = versions + identity + network + security + output + httpie

    private static let versions = [
        ForeignOption(
            ["http3", "http3-only"],
            "the command speaks HTTP/2 and HTTP/1.1, which such servers speak too; leave the option away, or use --http2"
        ),
        ForeignOption(
            ["0", "http1.0", "http0.9"],
            "requests are HTTP/1.1, and answers of HTTP/1.0 are read; leave the option away"),
        ForeignOption(
            ["a", "append", "l", "list-only", "Q", "quote", "P", "ftp-port", "mail-from", "mail-rcpt"],
            "it is for FTP or mail, and the command speaks HTTP"),
    ]

    private static let identity = [
        ForeignOption(
            ["ntlm", "negotiate", "proxy-ntlm", "proxy-negotiate"],
            "use -u with Basic or --digest, or --oauth2-bearer; NTLM and Negotiate are not spoken"),
        ForeignOption(
            ["aws-sigv4"], "sign the request yourself, and send the signature with -H 'Authorization: ...'"),
        ForeignOption(
            ["location-trusted"],
            "credentials stay with their origin; ask the address that the redirect leads to, with -u"),
        ForeignOption(
            ["j", "junk-session-cookies"], "remove the lines with expiry 0 from the file of -b before"),
    ]

    private static let network = [
        ForeignOption(
            ["post301", "post302", "post303"],
            "a POST is sent again behind 307 and 308 alone; send it to the new address"),
        ForeignOption(["request-target"], "write the target into the URL, with --path-as-is"),
        ForeignOption(
            ["p", "proxytunnel"], "https URLs are always tunnelled through a proxy, http URLs never are"),
        ForeignOption(
            ["socks4", "socks4a", "socks5", "preproxy"],
            "use -x socks5h://HOST:PORT, where the proxy looks names up"),
        ForeignOption(
            ["dns-servers", "doh-url"], "give the address with --resolve HOST:PORT:ADDRESS"),
        ForeignOption(["y", "speed-time", "Y", "speed-limit"], "use -m SECONDS for the whole"),
        ForeignOption(
            ["keepalive-time", "no-keepalive", "tcp-nodelay", "tcp-fastopen", "no-sessionid", "no-alpn"],
            "connections are kept and used again as they should be; leave the option away"),
        ForeignOption(["local-port"], "use --interface ADDRESS; the system chooses the port"),
        ForeignOption(["parallel-max"], "eight transfers run at once"),
    ]

    private static let security = [
        ForeignOption(
            ["1", "tlsv1", "tlsv1.0", "tlsv1.1", "2", "sslv2", "3", "sslv3"],
            "TLS 1.2 is the lowest version; leave the option away, or use --tlsv1.2"),
        ForeignOption(["capath"], "use --cacert FILE, with all of the roots in one file"),
        ForeignOption(["crlfile", "cert-status"], "use --pin, or a short list of roots with --cacert"),
        ForeignOption(["cert-type", "key-type"], "PEM and PKCS #12 are told apart by what is in the file"),
        ForeignOption(
            ["proxy-cacert", "proxy-insecure", "proxy-cert"],
            "use --cacert, which holds for an https proxy too"),
    ]

    private static let output = [
        ForeignOption(
            ["trace", "trace-ascii", "trace-time", "trace-ids"],
            "use -v for heads and connection, --events for what happens, or --print HBhb for both messages"),
        ForeignOption(
            ["K", "config"], "no configuration is read; put the line into a script or an alias of the shell"),
        ForeignOption(["stderr"], "use the shell: 2>FILE"),
        ForeignOption(["no-clobber"], "use -o with a new name; -J never writes over a file"),
        ForeignOption(["remove-on-error"], "use the shell: lupine ... || rm FILE"),
        ForeignOption(
            ["tr-encoding"],
            "use --compressed, which is the default; content has codings, transfers have none"),
        ForeignOption(["libcurl"], "use --to-curl for the curl line"),
    ]

    private static let httpie = [
        ForeignOption(["style"], "use --color and --pretty; there is one set of colours"),
        ForeignOption(
            ["sorted", "format-options"], "use jq -S for JSON; fields and members stay in their order"),
        ForeignOption(
            ["response-charset", "response-mime"], "content is passed on as it came; use iconv behind a pipe"),
        ForeignOption(["compress"], "compress before: gzip -c FILE | lupine POST URL Content-Encoding:gzip"),
        ForeignOption(["chunked"], "use -T - for a body of unknown length, which goes out in chunks"),
        ForeignOption(["boundary"], "the boundary is chosen so that no part has it"),
        ForeignOption(["max-headers"], "heads have a limit of their own; leave the option away"),
        ForeignOption(["meta"], "use --print m, or --timing"),
        ForeignOption(["traceback", "debug"], "use -v or --events"),
    ]
}
