// SPDX-License-Identifier: MIT

/// The table of all options. The parser, `--help`, `lupine help`, the manual and the completions of three shells use it.
///
/// Short options have the same meaning as in curl. Long options are those of curl and of HTTPie. Where the two conflict, HTTPie's
/// meaning applies.
///
/// A row has the case that identifies the option, the short name if there is one, the long names, the kind of value, the chapter
/// of the manual, a summary and details. "The same" in a summary refers to the row above.
enum OptionTable {
    /// All options, in the order of the manual.
    static let all: [Option] = request + identity + network + security + output + reports

    /// Returns the option that this case identifies; nil if it has no row.
    static func option(_ name: OptionName) -> Option? { all.first { $0.name == name } }
    /// Returns the option with this short name, without a dash; nil if there is none.
    static func option(short letter: Character) -> Option? { all.first { $0.shortName == letter } }
    /// Returns the option with this long name, without dashes; nil if there is none.
    static func option(long word: some StringProtocol) -> Option? {
        all.first { $0.longNames.contains { $0 == word } }
    }

    private static let request: [Option] = [
        Option(
            .request, short: "X", ["request"], .value("METHOD"), .request, "the method",
            "Without this option the method is the word before the URL; otherwise PUT with -T, HEAD with -I, POST if there is a body, else GET. Redirects change the method as RFC 9110 says: after 303 it is GET."
        ),
        Option(
            .data, short: "d", ["data", "data-ascii"], .value("DATA"), .request, "a body, sent as a form",
            "Several are joined with `&`. `@FILE` sends the content of the file without its line ends, `@-` the standard input. The content type is application/x-www-form-urlencoded unless -H or --json says otherwise."
        ),
        Option(
            .dataRaw, ["data-raw"], .value("DATA"), .request, "the same, but @ has no special meaning"),
        Option(
            .dataBinary, ["data-binary"], .value("DATA"), .request,
            "the same, but files are sent byte for byte"),
        Option(
            .dataURLEncode, ["data-urlencode"], .value("DATA"), .request,
            "the same, percent-encoded: name=content or name@file"),
        Option(
            .part, short: "F", ["form-part"], .value("NAME=CONTENT"), .request, "a part of a multipart form",
            "`NAME=@FILE` attaches a file, `NAME=<FILE` uses its content as text. `;type=TYPE` and `;filename=NAME` may follow."
        ),
        Option(
            // `.none`: for curl's `--json DATA`, `CommandLineReader` decides whether the next argument is the value.
            .json, ["json"], .none, .request, "items make a JSON object (the default)",
            "Together with -d, the data is sent as application/json."),
        Option(.form, ["form"], .none, .request, "items make a form; a multipart form if one is a file"),
        Option(.multipart, ["multipart"], .none, .request, "items make a multipart form"),
        Option(
            .raw, ["raw"], .value("BODY"), .request, "a body, sent unchanged",
            "The content type is application/json if the body is JSON, else text/plain."),
        Option(
            .upload, short: "T", ["upload-file"], .file("FILE"), .request, "upload a file with PUT",
            "`-` sends the standard input while it is read; --retry does not send a pipe again, because it cannot be read twice. If the URL ends in a slash, the name of the file is added to it. A bar shows the progress."
        ),
        Option(
            .get, short: "G", ["get"], .none, .request, "put the data of -d into the query"),
        Option(.head, short: "I", ["head"], .none, .request, "request the head only"),
        Option(
            .header, short: "H", ["header"], .value("LINE"), .request, "a header field",
            "`Name: value` sets a field, `Name:` removes a field that would be sent by default, `Name;` sends an empty field, `@FILE` reads such lines from a file."
        ),
        Option(.userAgent, short: "A", ["user-agent"], .value("NAME"), .request, "the value of User-Agent"),
        Option(.referer, short: "e", ["referer"], .value("URL"), .request, "the value of Referer"),
        Option(
            .compressed, ["compressed"], .none, .request, "request compressed content (the default)",
            "Compressed content is always requested, and always decoded. The option exists for command lines that were written for curl."
        ),
        Option(
            .rawEncoding, ["raw-encoding"], .none, .request,
            "request no content codings, and decode none"),
        Option(
            .ignoreStandardInput, ["ignore-stdin"], .none, .request, "do not read the standard input",
            "Without this option a pipe or a file on the standard input is the body if no item, -d, -F, --raw or -T gives one. Use it in scripts and services, where the standard input may be a pipe that nobody writes to."
        ),
        Option(.url, ["url"], .value("URL"), .request, "a URL, the same as without an option"),
        Option(
            .urlQuery, ["url-query"], .value("DATA"), .request, "a parameter in the query: name=content",
            "It is percent-encoded as by --data-urlencode; a parameter that begins with + is added unchanged."
        ),
        Option(
            .formString, ["form-string"], .value("NAME=CONTENT"), .request,
            "the same as -F, but @, < and ; have no special meaning"),
        Option(
            .range, short: "r", ["range"], .value("BYTES"), .request,
            "a part of the content: 0-99, 100- or -100",
            "It is requested without a content coding, because a part of coded content cannot be decoded."),
        Option(
            .timeCondition, short: "z", ["time-cond"], .value("DATE|FILE"), .request,
            "request only content newer than a date, or than a file",
            "With a minus sign in front: only older content. If the status is 304, the file of -o is not changed."
        ),
        Option(
            .etagCompare, ["etag-compare"], .file("FILE"), .request,
            "request only content whose ETag is not the one in this file"),
        Option(
            .etagSave, ["etag-save"], .file("FILE"), .request, "write the ETag into this file",
            "It is written at the end, when the whole content has arrived."),
        Option(
            .pathAsIs, ["path-as-is"], .none, .request, "leave /../ and /./ in the path",
            "Without this option they are removed from the path, as browsers do."),
        Option(
            .defaultScheme, ["default-scheme", "proto-default"], .value("SCHEME"), .request,
            "the scheme of URLs without one, such as https"),
        Option(
            .globOff, short: "g", ["globoff"], .none, .request,
            "no effect: brackets and braces are never expanded"),
        Option(
            .next, ["next"], .none, .request, "begin another request, with its own options",
            "-s, -S, -v, --offline, --to-curl and --ignore-stdin apply to all requests."),
    ]

    private static let identity: [Option] = [
        Option(
            .user, short: "u", ["user", "auth"], .value("USER:PASSWORD"), .identity, "credentials",
            "They are sent as Basic with the first request, or with --digest as the answer to a challenge. If the password is missing, the terminal asks for it. They are not sent to another origin after a redirect."
        ),
        Option(.digest, ["digest"], .none, .identity, "answer challenges with Digest, never with Basic"),
        Option(
            .basic, ["basic"], .none, .identity, "send Basic with the first request (the default)"),
        Option(
            .anyAuth, ["anyauth"], .none, .identity, "answer with the scheme that the server requests"),
        Option(
            .authType, ["auth-type"], .oneOf(["basic", "digest", "bearer"]), .identity,
            "the scheme of --auth",
            "With bearer, the whole value of --auth is the token."),
        Option(
            .bearer, ["oauth2-bearer"], .value("TOKEN"), .identity,
            "a token, sent as Authorization: Bearer"),
        Option(
            .netrc, short: "n", ["netrc"], .none, .identity, "credentials from ~/.netrc",
            "If the variable NETRC names a file, that one is read. Without this option neither is read."),
        Option(
            .netrcFile, ["netrc-file"], .file("FILE"), .identity,
            "credentials from this file, in the format of .netrc"),
        Option(
            .netrcOptional, ["netrc-optional"], .none, .identity,
            "credentials from ~/.netrc, if it exists"),
        Option(.ignoreNetrc, ["ignore-netrc"], .none, .identity, "do not read ~/.netrc (the default)"),
        Option(
            .cookie, short: "b", ["cookie"], .value("DATA|FILE"), .identity,
            "cookies to send: a=b; c=d, or a file",
            "A value without an equals sign is a file in Netscape's format; cookies that are received are then sent again in this run. Cookies given as a=b are sent only to the scheme, host and port of the URL, and neither -c nor --session saves them."
        ),
        Option(
            .cookieJar, short: "c", ["cookie-jar"], .file("FILE"), .identity,
            "write the cookies to this file at the end",
            "With -k, cookies received over https are used in this run only and are not written."),
        Option(
            .session, ["session"], .value("NAME"), .identity, "keep cookies and headers under this name",
            "They are sent only to the scheme, host and port of the URL. The file is read before the request and written after it: $XDG_DATA_HOME/lupine/sessions/SCHEME_HOST_PORT/NAME.json, which only you can read (mode 0600). A NAME with a slash is the path of a file, which records the origins. Header fields whose name begins with Content- or If- are not kept."
        ),
        Option(
            .sessionReadOnly, ["session-read-only"], .value("NAME"), .identity,
            "the same, but nothing is written"),
    ]

    private static let network: [Option] = [
        Option(
            .location, short: "L", ["location", "follow"], .none, .network, "follow redirects",
            "Without this option a redirect is a response like any other."),
        Option(
            .maximumRedirects, ["max-redirs", "max-redirects"], .value("N"), .network,
            "the maximum number of redirects, at most 20 (the default)"),
        Option(
            .noDowngrade, ["no-downgrade"], .none, .network, "no redirect from https to http",
            "Without this option such a redirect is followed, but only header fields that name a format, a language, a range or the program are sent."
        ),
        Option(
            .proxy, short: "x", ["proxy"], .value("URL"), .network,
            "a proxy: http://, https:// or socks5h://",
            "Without this option the variables http_proxy, https_proxy, all_proxy and no_proxy apply. An empty URL means no proxy. `http:URL` and `https:URL` name a proxy for URLs of one scheme."
        ),
        Option(
            .proxyUser, short: "U", ["proxy-user"], .value("USER:PASSWORD"), .network,
            "credentials for the proxy of -x"),
        Option(.socks, ["socks5-hostname"], .value("HOST:PORT"), .network, "the same as -x socks5h://"),
        Option(.noProxy, ["noproxy"], .value("HOSTS"), .network, "hosts that need no proxy; * for all"),
        Option(
            .resolve, ["resolve"], .value("HOST:PORT:ADDRESS"), .network,
            "an address to use instead of a look-up",
            "Several addresses are separated by commas; the host * means all hosts."),
        Option(
            .unixSocket, ["unix-socket"], .file("PATH"), .network, "connect to this Unix-domain socket"),
        Option(
            .interface, ["interface"], .value("NAME"), .network, "send from this address or interface"),
        Option(
            .connectTo, ["connect-to"], .value("HOST1:PORT1:HOST2:PORT2"), .network,
            "connect to another host and port",
            "The names in the URL, in Host and in TLS do not change. An empty HOST1 or PORT1 means any, an empty HOST2 or PORT2 that of the URL."
        ),
        Option(.ipv4, short: "4", ["ipv4"], .none, .network, "connect by IPv4 only"),
        Option(.ipv6, short: "6", ["ipv6"], .none, .network, "connect by IPv6 only"),
        Option(
            .protocols, ["proto"], .value("SCHEMES"), .network, "the schemes that are allowed: =https",
            "Several are separated by commas; + adds a scheme, - removes one, = allows only this one, `all` means all."
        ),
        Option(
            .redirectProtocols, ["proto-redir"], .value("SCHEMES"), .network,
            "the schemes that redirects may lead to"),
        Option(
            .parallel, short: "Z", ["parallel"], .none, .network,
            "load several URLs at once (the default if they are saved)"),
        Option(
            .http11, ["http1.1"], .none, .network, "use HTTP/1.1 only",
            "Of this option, --http2 and --http2-prior-knowledge the last one applies."),
        Option(
            .http2, ["http2"], .none, .network,
            "use HTTP/2 if an https server chooses it (the default)",
            "The server chooses in the TLS handshake (ALPN). Other https servers and all http servers are sent HTTP/1.1; no upgrade is requested. A web socket uses HTTP/1.1."
        ),
        Option(
            .priorKnowledge, ["http2-prior-knowledge"], .none, .network,
            "use HTTP/2 only, also with http servers",
            "An http server has to support HTTP/2 from the first byte on; with an https server that does not choose it, the request fails. A proxy is used through a tunnel, also for http URLs. A web socket is a stream (RFC 8441); with a server that does not support this, it fails."
        ),
        Option(
            .connectTimeout, ["connect-timeout"], .value("SECONDS"), .network,
            "the time limit for connecting"),
        Option(
            .maximumTime, short: "m", ["max-time", "timeout"], .value("SECONDS"), .network,
            "the time limit for the whole transfer"),
        Option(
            .retry, ["retry"], .value("N"), .network, "the maximum number of retries",
            "A request is retried after a time-out, a lost connection and the statuses 408, 429, 500, 502, 503 and 504. The delay is one second, then two, four and so on, or as Retry-After says."
        ),
        Option(
            .retryAllErrors, ["retry-all-errors"], .none, .network, "with --retry: after any failure",
            "With -f or --fail-with-body, also after any status from 400 on."),
        Option(
            .retryRefused, ["retry-connrefused"], .none, .network,
            "with --retry: also after a refused connection"),
        Option(
            .retryDelay, ["retry-delay"], .value("SECONDS"), .network,
            "with --retry: the delay before each retry", "0 means one second, then two, four and so on."),
        Option(
            .retryMaximumTime, ["retry-max-time"], .value("SECONDS"), .network,
            "with --retry: the time limit for all retries",
            "A retry that would begin later is not made, and the last response is the result; 0 means no limit."
        ),
        Option(
            .maximumFileSize, ["max-filesize"], .value("BYTES"), .network,
            "the maximum length of the content; with k, M or G",
            "If the response announces longer content, it fails at once, otherwise when more has arrived; the exit code is 63."
        ),
        Option(
            .limitRate, ["limit-rate"], .value("RATE"), .network,
            "the maximum bytes per second; with k, M or G"),
    ]

    private static let security: [Option] = [
        Option(
            .insecure, short: "k", ["insecure"], .none, .security, "accept any certificate",
            "Anybody between you and the server can read and change everything. --pin is still checked. Cookies received in this way are used in this run only and are not saved."
        ),
        Option(.authorities, ["cacert"], .file("FILE"), .security, "trust only these root certificates"),
        Option(
            .certificate, short: "E", ["cert"], .file("FILE"), .security,
            "the client certificate, PEM or PKCS #12",
            "`FILE:PASSWORD` gives the password of its key. Without --key, the key is in the same file."),
        Option(
            .key, ["key", "cert-key"], .file("FILE"), .security,
            "the key of the client certificate, in PEM"),
        Option(
            .password, ["pass", "cert-key-pass"], .value("PASSWORD"), .security,
            "the password of the client certificate's key"),
        Option(
            .pin, ["pin", "pinnedpubkey"], .value("PIN"), .security,
            "sha256/BASE64 of a key that the server must show",
            "At least one key of the certificate chain must match one of the pins. Give several with several options, or separated by semicolons. --certs prints the pins of a server."
        ),
        Option(.tls12, ["tlsv1.2"], .none, .security, "TLS 1.2 or later (the default)"),
        Option(.tls13, ["tlsv1.3"], .none, .security, "TLS 1.3 or later"),
        Option(
            .maximumTLS, ["tls-max"], .oneOf(["1.2", "1.3", "default"]), .security,
            "the latest version of TLS"),
        Option(
            .tlsVersion, ["ssl"], .oneOf(["ssl2.3", "tls1.2", "tls1.3"]), .security,
            "use this version of TLS; ssl2.3 means any"),
        Option(
            .ciphers, ["ciphers"], .value("LIST"), .security,
            "ciphers up to TLS 1.2, as OpenSSL names them"),
        Option(.cipherSuites, ["tls13-ciphers"], .value("LIST"), .security, "cipher suites of TLS 1.3"),
        Option(
            .verify, ["verify"], .value("yes|no|FILE"), .security,
            "no means -k, a file means --cacert"),
    ]

    private static let output: [Option] = [
        Option(.include, short: "i", ["include"], .none, .output, "print the response's head too"),
        Option(
            .print, ["print"], .value("WHAT"), .output, "the parts to print: H h B b m",
            "H and B are the head and body of the request, h and b those of the response, m the measured times and sizes. The default is hb on a terminal, and b in a pipe or a file."
        ),
        Option(.headersOnly, ["headers"], .none, .output, "print the response's head only"),
        Option(.bodyOnly, ["body"], .none, .output, "print the response's body only"),
        Option(
            .verbose, short: "v", ["verbose"], .none, .output, "print all heads, and the connections",
            "-vv also prints other frames of HTTP/2: the number of the stream, the server's settings, enlarged windows, streams and connections that the server ends."
        ),
        Option(.silent, short: "s", ["silent"], .none, .output, "print no progress and no errors"),
        Option(.showError, short: "S", ["show-error"], .none, .output, "print errors even with -s"),
        Option(
            .fail, short: "f", ["fail"], .none, .output, "fail on a status of 400 or more",
            "The body of such a response is not printed; the exit code is 22 for 4xx and 24 for 5xx."),
        Option(
            .failWithBody, ["fail-with-body", "check-status"], .none, .output,
            "the same, but print the body"),
        Option(.offline, ["offline"], .none, .output, "print the request, but do not send it"),
        Option(.all, ["all"], .none, .output, "print the heads of redirects too"),
        Option(.quiet, ["quiet"], .none, .output, "print nothing but errors"),
        Option(
            .unsorted, ["unsorted"], .none, .output, "keep the order of fields and members (the default)"
        ),
        Option(
            .writeOut, short: "w", ["write-out"], .value("FORMAT"), .output, "print this at the end",
            "The variables are %{http_code} or %{response_code}, %{http_version}, %{url_effective}, %{content_type}, %{size_download}, %{size_upload}, %{num_redirects}, %{redirect_url}, %{num_connects}, %{remote_ip}, %{remote_port}, %{local_ip}, %{local_port}, %{method}, %{scheme}, %{filename_effective}, %{exitcode}, %{errormsg}, %header{NAME}, %{time_namelookup}, %{time_connect}, %{time_appconnect}, %{time_pretransfer}, %{time_starttransfer}, %{time_total}, %{speed_download}; and \\n, \\t, \\r."
        ),
        Option(
            .dumpHeader, short: "D", ["dump-header"], .file("FILE"), .output,
            "write the response's head to a file"),
        Option(
            .color, ["color", "colour"], .oneOf(["auto", "always", "never"]), .output,
            "when to use colours",
            "With auto, colours are used on a terminal, unless NO_COLOR is set or TERM is dumb."),
        Option(
            .pretty, ["pretty"], .oneOf(["all", "colors", "format", "none"]), .output,
            "how JSON is printed; the default in a pipe is none"),
        Option(
            .output, short: "o", ["output"], .file("FILE"), .output,
            "save to this file; - is the standard output"),
        Option(
            .remoteName, short: "O", ["remote-name"], .none, .output,
            "save under the last name in the URL's path",
            "Several URLs are loaded at the same time, each with its own bar and into its own file. If two have the same name, the second fails."
        ),
        Option(
            .remoteHeaderName, short: "J", ["remote-header-name"], .none, .output,
            "with -O: save under the name that the server gives",
            "No existing file is overwritten, and no link is followed. It cannot be used with -C."),
        Option(
            .continueAt, short: "C", ["continue-at"], .value("OFFSET"), .output,
            "continue a download; -C - finds the offset",
            "The content of the file is kept, and the rest is requested with Range. If the server does not support ranges, or the version, range or length that it sends does not match the file, the download fails and the file is not changed. It cannot be used with -J or -i."
        ),
        Option(
            .continueDownload, ["continue"], .none, .output, "the same as -C -"),
        Option(
            .download, ["download"], .none, .output, "the same as -OJ, or as -o if that is given",
            "It includes -L and -f: redirects are followed, and a status of 400 or more is a failure."),
        Option(.remoteNameAll, ["remote-name-all"], .none, .output, "-O for all URLs without -o"),
        Option(
            .createFolders, ["create-dirs"], .none, .output, "create the missing folders of -o"),
        Option(.outputFolder, ["output-dir"], .file("FOLDER"), .output, "the folder to save to"),
        Option(
            .remoteTime, short: "R", ["remote-time"], .none, .output,
            "give the file the time of Last-Modified"),
        Option(
            .progressBar, short: "#", ["progress-bar"], .none, .output, "show a progress bar (the default)"),
        Option(
            .noProgress, ["no-progress-meter", "no-progress"], .none, .output, "show no progress bar"),
    ]

    private static let reports: [Option] = [
        Option(
            .timing, ["timing"], .optional(["text", "json"]), .reports,
            "print a waterfall of the times",
            "It shows look-up, connecting, TLS, waiting and receiving, with a row for each redirect and each attempt, on the standard error."
        ),
        Option(
            .certificates, ["certs"], .none, .reports, "print the server's certificates and their pins",
            "The chain is printed even if it is not trusted."),
        Option(.events, ["events"], .none, .reports, "print the events of the request as they happen"),
        Option(
            .toCurl, ["to-curl"], .none, .reports,
            "print the same request as a curl command; do not send it",
            "Passwords, tokens and cookies are printed as *** unless --show-secrets is given. A body that is not text is not printed."
        ),
        Option(.showSecrets, ["show-secrets"], .none, .reports, "do not hide secrets in reports"),
        Option(
            .stream, short: "N", ["stream", "no-buffer"], .none, .reports, "print content as it arrives",
            "JSON is then formatted line by line."),
        Option(
            .serverSentEvents, ["sse"], .none, .reports, "follow server-sent events",
            "Each event is printed when it arrives. After a lost connection, the command connects again and continues after the last event."
        ),
        Option(.help, short: "h", ["help"], .none, .reports, "print this page"),
        Option(.version, short: "V", ["version"], .none, .reports, "print the version"),
    ]
}
