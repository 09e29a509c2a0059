// SPDX-License-Identifier: MIT

/// The table of all options. The parser, `--help`, `lupine help`, the manual and the completions of three shells are made from
/// it.
///
/// Short options have the meaning that they have in curl. Long options are those of curl and of HTTPie, and HTTPie's where the
/// two conflict.
enum OptionTable {
    /// All options, in the order of the manual.
    static let all: [Option] = request + identity + network + security + output + reports

    /// Returns the option that a case identifies.
    static func option(_ name: OptionName) -> Option? { all.first { $0.name == name } }
    /// Returns the option with this letter; nil if there is none.
    static func option(short letter: Character) -> Option? { all.first { $0.short == letter } }
    /// Returns the option with this long name, without dashes; nil if there is none.
    static func option(long word: some StringProtocol) -> Option? {
        all.first { $0.longNames.contains { $0 == word } }
    }

    private static let request: [Option] = [
        Option(
            .request, "X", ["request"], .value("METHOD"), .request, "the method",
            "Without it the method is the word before the URL, or POST when there is a body, PUT with -T, HEAD with -I, else GET. A redirect goes on as the RFCs say: 303 turns into GET."
        ),
        Option(
            .data, "d", ["data", "data-ascii"], .value("DATA"), .request, "a body, sent as a form",
            "Several are joined with `&`. `@FILE` takes the file without its line ends, `@-` the standard input. The content type is application/x-www-form-urlencoded unless -H or --json says otherwise."
        ),
        Option(
            .dataRaw, nil, ["data-raw"], .value("DATA"), .request, "the same, where @ means nothing"),
        Option(
            .dataBinary, nil, ["data-binary"], .value("DATA"), .request, "the same, with files byte for byte"),
        Option(
            .dataURLEncode, nil, ["data-urlencode"], .value("DATA"), .request,
            "the same, percent-encoded: name=content or name@file"),
        Option(
            .part, "F", ["form-part"], .value("NAME=CONTENT"), .request, "a part of a multipart form",
            "`NAME=@FILE` attaches a file, `NAME=<FILE` takes its content. `;type=TYPE` and `;filename=NAME` may follow."
        ),
        Option(
            .json, nil, ["json"], .none, .request, "items make a JSON object (the default)",
            "With -d it sends the data as application/json."),
        Option(.form, nil, ["form"], .none, .request, "items make a form; with a file a multipart one"),
        Option(.multipart, nil, ["multipart"], .none, .request, "items make a multipart form"),
        Option(
            .raw, nil, ["raw"], .value("BODY"), .request, "a body as it stands",
            "The content type is application/json when it is JSON, else text/plain."),
        Option(
            .upload, "T", ["upload-file"], .file("FILE"), .request, "upload a file with PUT",
            "`-` takes the standard input as it comes; a pipe cannot be read twice, and is not sent again by --retry. Where the URL ends in a slash, the name of the file is added to it. A bar shows how far it is."
        ),
        Option(
            .get, "G", ["get"], .none, .request, "put the data of -d into the query"),
        Option(.head, "I", ["head"], .none, .request, "ask for the head only"),
        Option(
            .header, "H", ["header"], .value("LINE"), .request, "a header field",
            "`Name: value` sets it, `Name:` removes one that would be sent, `Name;` sends it empty, `@FILE` takes lines from a file."
        ),
        Option(.userAgent, "A", ["user-agent"], .value("NAME"), .request, "the User-Agent"),
        Option(.referer, "e", ["referer"], .value("URL"), .request, "the Referer"),
        Option(
            .compressed, nil, ["compressed"], .none, .request, "ask for compressed content (the default)",
            "Content is always asked for compressed and always decoded. The switch is there for lines that were written for curl."
        ),
        Option(
            .rawEncoding, nil, ["raw-encoding"], .none, .request, "do not ask for codings and undo none"),
        Option(
            .ignoreStandardInput, nil, ["ignore-stdin"], .none, .request, "do not read the standard input",
            "A pipe or a file on the standard input is the body when no field, -d, -F, --raw or -T is given. In scripts and services, whose input may be a pipe that nobody writes to, this switch says that it is not meant."
        ),
        Option(.url, nil, ["url"], .value("URL"), .request, "a URL, as if it stood without an option"),
        Option(
            .urlQuery, nil, ["url-query"], .value("DATA"), .request, "a parameter in the query: name=content",
            "Percent-encoded as by --data-urlencode; what begins with + stands as it is."),
        Option(
            .formString, nil, ["form-string"], .value("NAME=CONTENT"), .request,
            "the same as -F, where @, < and ; mean nothing"),
        Option(
            .range, "r", ["range"], .value("BYTES"), .request, "a part of the content: 0-99, 100- or -100",
            "It is asked for without a coding, since a part of coded content cannot be decoded."),
        Option(
            .timeCondition, "z", ["time-cond"], .value("DATE|FILE"), .request,
            "only what is newer than a date, or than a file",
            "With a minus sign in front: only what is older. Where the answer is 304, the file of -o stays as it is."
        ),
        Option(
            .etagCompare, nil, ["etag-compare"], .file("FILE"), .request,
            "only what has another ETag than this file"),
        Option(
            .etagSave, nil, ["etag-save"], .file("FILE"), .request, "write the ETag into this file",
            "At the end, once the content has come whole."),
        Option(
            .pathAsIs, nil, ["path-as-is"], .none, .request, "leave /../ and /./ in the path",
            "Without it they are taken out before, as browsers do."),
        Option(
            .defaultScheme, nil, ["default-scheme", "proto-default"], .value("SCHEME"), .request,
            "the scheme of URLs without one: https"),
        Option(.globOff, "g", ["globoff"], .none, .request, "brackets and braces mean nothing, as always"),
        Option(
            .next, nil, ["next"], .none, .request, "what follows is another request, with options of its own",
            "-s, -S, -v, --offline, --to-curl and --ignore-stdin hold for all."),
    ]

    private static let identity: [Option] = [
        Option(
            .user, "u", ["user", "auth"], .value("USER:PASSWORD"), .identity, "credentials",
            "Sent as Basic at once, or with --digest as the answer to a challenge. Without a password it is asked for on the terminal. They do not follow a redirect to another origin."
        ),
        Option(.digest, nil, ["digest"], .none, .identity, "answer with Digest, never with Basic"),
        Option(
            .basic, nil, ["basic"], .none, .identity, "send Basic at once (the default)"),
        Option(.anyAuth, nil, ["anyauth"], .none, .identity, "answer with what the server asks for"),
        Option(
            .authType, nil, ["auth-type"], .oneOf(["basic", "digest", "bearer"]), .identity, "what --auth is",
            "With bearer the whole of it is the token."),
        Option(.bearer, nil, ["oauth2-bearer"], .value("TOKEN"), .identity, "a token: Authorization: Bearer"),
        Option(
            .netrc, "n", ["netrc"], .none, .identity, "credentials from ~/.netrc",
            "Or from the file that NETRC names. Without this switch the file is not read."),
        Option(.netrcFile, nil, ["netrc-file"], .file("FILE"), .identity, "credentials from a file like it"),
        Option(.netrcOptional, nil, ["netrc-optional"], .none, .identity, "from ~/.netrc where it is there"),
        Option(.ignoreNetrc, nil, ["ignore-netrc"], .none, .identity, "do not read ~/.netrc (the default)"),
        Option(
            .cookie, "b", ["cookie"], .value("DATA|FILE"), .identity, "cookies to send: a=b; c=d, or a file",
            "What has no equals sign is a file in Netscape's format; cookies that come are kept for this run then. What is given as a=b goes to the scheme, host and port of the URL alone, and no -c or --session writes it down."
        ),
        Option(
            .cookieJar, "c", ["cookie-jar"], .file("FILE"), .identity, "write the cookies there at the end",
            "With -k those that came over https are for this run and are not written."),
        Option(
            .session, nil, ["session"], .value("NAME"), .identity, "keep cookies and headers under this name",
            "They are kept for the scheme, host and port of the URL and sent nowhere else; read before and written after, in $XDG_DATA_HOME/lupine/sessions/SCHEME_HOST_PORT/NAME.json, which nobody else can read (mode 0600). A NAME with a slash is the path of a file, in which the origins are noted. Header fields whose name begins with Content- or If- are not kept."
        ),
        Option(
            .sessionReadOnly, nil, ["session-read-only"], .value("NAME"), .identity,
            "the same, without writing anything"),
    ]

    private static let network: [Option] = [
        Option(
            .location, "L", ["location", "follow"], .none, .network, "follow redirects",
            "Without it a redirect is an answer like any other."),
        Option(
            .maximumRedirects, nil, ["max-redirs", "max-redirects"], .value("N"), .network,
            "how many redirects; 20 at most, and without it"),
        Option(
            .noDowngrade, nil, ["no-downgrade"], .none, .network, "no redirect from https to http",
            "Without it such a redirect is followed, but of the header fields only what names a format, a language, a range or the program goes along."
        ),
        Option(
            .proxy, "x", ["proxy"], .value("URL"), .network, "a proxy: http://, https:// or socks5h://",
            "Without it the variables http_proxy, https_proxy, all_proxy and no_proxy say. An empty URL means none. `http:URL` and `https:URL` name a proxy for URLs of one scheme."
        ),
        Option(
            .proxyUser, "U", ["proxy-user"], .value("USER:PASSWORD"), .network,
            "credentials for the proxy of -x"),
        Option(.socks, nil, ["socks5-hostname"], .value("HOST:PORT"), .network, "the same as -x socks5h://"),
        Option(.noProxy, nil, ["noproxy"], .value("HOSTS"), .network, "hosts that need no proxy; * for all"),
        Option(
            .resolve, nil, ["resolve"], .value("HOST:PORT:ADDRESS"), .network,
            "an address in place of a look-up",
            "Several addresses are separated by commas; the host * stands for all."),
        Option(
            .unixSocket, nil, ["unix-socket"], .file("PATH"), .network, "connect to this Unix-domain socket"),
        Option(
            .interface, nil, ["interface"], .value("NAME"), .network, "leave from this address or interface"),
        Option(
            .connectTo, nil, ["connect-to"], .value("HOST1:PORT1:HOST2:PORT2"), .network,
            "connect to another host and port",
            "The names in the URL, in Host and in TLS stay. An empty host or port stands for any, or for that of the URL."
        ),
        Option(.ipv4, "4", ["ipv4"], .none, .network, "connect by IPv4 alone"),
        Option(.ipv6, "6", ["ipv6"], .none, .network, "connect by IPv6 alone"),
        Option(
            .protocols, nil, ["proto"], .value("SCHEMES"), .network, "the schemes that are allowed: =https",
            "Several are separated by commas; + adds one, - takes one away, = allows this one alone, `all` is all."
        ),
        Option(
            .redirectProtocols, nil, ["proto-redir"], .value("SCHEMES"), .network,
            "those that redirects may lead to"),
        Option(
            .parallel, "Z", ["parallel"], .none, .network, "several at once, as always where they are saved"),
        Option(
            .http11, nil, ["http1.1"], .none, .network, "speak HTTP/1.1 alone",
            "Of this one, --http2 and --http2-prior-knowledge the last one holds."),
        Option(
            .http2, nil, ["http2"], .none, .network,
            "speak HTTP/2 where https servers choose it (the default)",
            "They choose in the TLS handshake (ALPN). With all others it is HTTP/1.1, and so it is with http servers, which are not asked to upgrade. A web socket goes over HTTP/1.1."
        ),
        Option(
            .priorKnowledge, nil, ["http2-prior-knowledge"], .none, .network,
            "speak HTTP/2 alone, with http servers too",
            "An http server has to speak it from the first byte on, and an https server that does not choose it is refused. An http URL goes through a proxy by a tunnel. A web socket is a stream (RFC 8441), and a server that takes none so is refused."
        ),
        Option(
            .connectTimeout, nil, ["connect-timeout"], .value("SECONDS"), .network,
            "how long connecting may take"),
        Option(
            .maximumTime, "m", ["max-time", "timeout"], .value("SECONDS"), .network, "how long all may take"),
        Option(
            .retry, nil, ["retry"], .value("N"), .network, "try again so often",
            "After a time-out, a lost connection and the statuses 408, 429, 500, 502, 503 and 504; after one second, then two, four and so on, or as Retry-After says."
        ),
        Option(
            .retryAllErrors, nil, ["retry-all-errors"], .none, .network, "with --retry: after any failure",
            "With -f or --fail-with-body after any status from 400 on."),
        Option(
            .retryRefused, nil, ["retry-connrefused"], .none, .network,
            "with --retry: also when nobody listens"),
        Option(
            .retryDelay, nil, ["retry-delay"], .value("SECONDS"), .network,
            "with --retry: always after so long", "0 stands for one second, then two, four and so on."),
        Option(
            .retryMaximumTime, nil, ["retry-max-time"], .value("SECONDS"), .network,
            "with --retry: for so long at most",
            "A try that would begin later is not made, and the last answer counts; 0 stands for no limit."),
        Option(
            .maximumFileSize, nil, ["max-filesize"], .value("BYTES"), .network,
            "no content that is longer; k, M and G are known",
            "What says so before fails at once, other content where it grows too long; the exit code is 63."),
        Option(
            .limitRate, nil, ["limit-rate"], .value("RATE"), .network,
            "bytes per second; k, M and G are known"),
    ]

    private static let security: [Option] = [
        Option(
            .insecure, "k", ["insecure"], .none, .security, "take any certificate",
            "Whoever sits on the line can read and change everything. --pin still decides. Cookies that come so are used in this run and written nowhere."
        ),
        Option(.authorities, nil, ["cacert"], .file("FILE"), .security, "trust these roots, and no others"),
        Option(
            .certificate, "E", ["cert"], .file("FILE"), .security, "our certificate, PEM or PKCS #12",
            "`FILE:PASSWORD` gives the password of its key. Without --key the key stands in the same file."),
        Option(.key, nil, ["key", "cert-key"], .file("FILE"), .security, "its key, in PEM"),
        Option(
            .password, nil, ["pass", "cert-key-pass"], .value("PASSWORD"), .security,
            "the password of that key"),
        Option(
            .pin, nil, ["pin", "pinnedpubkey"], .value("PIN"), .security,
            "sha256/BASE64 of a key that must be there",
            "One of the keys of the chain has to have one of the pins; several stand in several switches or are separated by semicolons. --certs prints the pins of a server."
        ),
        Option(.tls12, nil, ["tlsv1.2"], .none, .security, "TLS 1.2 or later, as always"),
        Option(.tls13, nil, ["tlsv1.3"], .none, .security, "TLS 1.3 or later"),
        Option(
            .maximumTLS, nil, ["tls-max"], .oneOf(["1.2", "1.3", "default"]), .security,
            "TLS no later than this"),
        Option(
            .tlsVersion, nil, ["ssl"], .oneOf(["ssl2.3", "tls1.2", "tls1.3"]), .security,
            "TLS of this version; ssl2.3 is any"),
        Option(
            .ciphers, nil, ["ciphers"], .value("LIST"), .security,
            "ciphers up to TLS 1.2, as OpenSSL names them"),
        Option(.cipherSuites, nil, ["tls13-ciphers"], .value("LIST"), .security, "cipher suites of TLS 1.3"),
        Option(
            .verify, nil, ["verify"], .value("yes|no|FILE"), .security,
            "no is -k, a file is --cacert"),
    ]

    private static let output: [Option] = [
        Option(.include, "i", ["include"], .none, .output, "print the response's head too"),
        Option(
            .print, nil, ["print"], .value("WHAT"), .output, "what is printed: H h B b m",
            "H and B are head and body of the request, h and b those of the response, m what was measured. On a terminal it is hb, in a pipe or a file b."
        ),
        Option(.headersOnly, nil, ["headers"], .none, .output, "print the response's head only"),
        Option(.bodyOnly, nil, ["body"], .none, .output, "print the response's body only"),
        Option(
            .verbose, "v", ["verbose"], .none, .output, "print both heads of every step, and the connection",
            "Twice, -vv, it also tells what HTTP/2 says beside them: the number of the stream, the server's settings, windows that open again, streams and connections that the server ends."
        ),
        Option(.silent, "s", ["silent"], .none, .output, "no progress and no errors"),
        Option(.showError, "S", ["show-error"], .none, .output, "errors in spite of -s"),
        Option(
            .fail, "f", ["fail"], .none, .output, "a status from 400 on is a failure",
            "Nothing of such a response's body is printed; the exit code is 22 for 4xx and 24 for 5xx."),
        Option(
            .failWithBody, nil, ["fail-with-body", "check-status"], .none, .output, "the same, with the body"),
        Option(.offline, nil, ["offline"], .none, .output, "print the request, and send nothing"),
        Option(.all, nil, ["all"], .none, .output, "print the heads of redirects too"),
        Option(.quiet, nil, ["quiet"], .none, .output, "print nothing but errors"),
        Option(.unsorted, nil, ["unsorted"], .none, .output, "fields and members in their order, as always"),
        Option(
            .writeOut, "w", ["write-out"], .value("FORMAT"), .output, "print this at the end",
            "Known are %{http_code} or %{response_code}, %{http_version}, %{url_effective}, %{content_type}, %{size_download}, %{size_upload}, %{num_redirects}, %{redirect_url}, %{num_connects}, %{remote_ip}, %{remote_port}, %{local_ip}, %{local_port}, %{method}, %{scheme}, %{filename_effective}, %{exitcode}, %{errormsg}, %header{NAME}, %{time_namelookup}, %{time_connect}, %{time_appconnect}, %{time_pretransfer}, %{time_starttransfer}, %{time_total}, %{speed_download}; and \\n, \\t, \\r."
        ),
        Option(
            .dumpHeader, "D", ["dump-header"], .file("FILE"), .output, "write the response's head to a file"),
        Option(
            .color, nil, ["color", "colour"], .oneOf(["auto", "always", "never"]), .output, "colours",
            "With auto there are colours on a terminal, unless NO_COLOR is set or TERM is dumb."),
        Option(
            .pretty, nil, ["pretty"], .oneOf(["all", "colors", "format", "none"]), .output,
            "how JSON is printed; none on a pipe"),
        Option(
            .output, "o", ["output"], .file("FILE"), .output, "save to this file; - is the standard output"),
        Option(
            .remoteName, "O", ["remote-name"], .none, .output, "save under the name of the URL",
            "Several URLs are loaded at the same time, each with a bar of its own and into a file of its own: of two with one name the second fails."
        ),
        Option(
            .remoteHeaderName, "J", ["remote-header-name"], .none, .output,
            "with -O: under the name that the server gives",
            "An existing file is not overwritten by it, nor is a link followed. It does not go with -C."),
        Option(
            .continueAt, "C", ["continue-at"], .value("OFFSET"), .output,
            "go on with a download; -C - finds out where",
            "What is there stays, the rest is asked for with Range. It fails, and leaves the file as it is, when the server has no ranges, or when version, range or length of what it sends do not go with what is there. It goes with neither -J nor -i."
        ),
        Option(
            .continueDownload, nil, ["continue"], .none, .output, "the same as -C -"),
        Option(
            .download, nil, ["download"], .none, .output, "the same as -OJ, or -o where that is there",
            "With -L and -f: redirects are followed, and a status from 400 on is a failure."),
        Option(.remoteNameAll, nil, ["remote-name-all"], .none, .output, "-O for all URLs without -o"),
        Option(
            .createFolders, nil, ["create-dirs"], .none, .output, "make the folders of -o that are not there"),
        Option(.outputFolder, nil, ["output-dir"], .file("FOLDER"), .output, "the folder that is saved to"),
        Option(.remoteTime, "R", ["remote-time"], .none, .output, "give the file the time of Last-Modified"),
        Option(.progressBar, "#", ["progress-bar"], .none, .output, "a progress bar, as always"),
        Option(.noProgress, nil, ["no-progress-meter", "no-progress"], .none, .output, "no progress bar"),
    ]

    private static let reports: [Option] = [
        Option(
            .timing, nil, ["timing"], .optional(["text", "json"]), .reports,
            "a waterfall of the time it took",
            "Look-up, connecting, TLS, waiting and receiving, with a row for each redirect and each attempt; on the standard error."
        ),
        Option(
            .certificates, nil, ["certs"], .none, .reports, "the server's certificates, and their pins",
            "The chain is shown also when it is not trusted."),
        Option(.events, nil, ["events"], .none, .reports, "what happens to the request, as it happens"),
        Option(
            .toCurl, nil, ["to-curl"], .none, .reports, "print the curl line for it; send nothing",
            "Passwords, tokens and cookies are *** unless --show-secrets is there too. A body that is no text is not shown."
        ),
        Option(.showSecrets, nil, ["show-secrets"], .none, .reports, "do not hide secrets in what is told"),
        Option(
            .stream, "N", ["stream", "no-buffer"], .none, .reports, "print content as it comes",
            "JSON is printed line by line then, each line for itself."),
        Option(
            .serverSentEvents, nil, ["sse"], .none, .reports, "follow server-sent events",
            "Each event is printed when it comes. A lost connection is made again, from the last event on."),
        Option(.help, "h", ["help"], .none, .reports, "this page"),
        Option(.version, "V", ["version"], .none, .reports, "the version"),
    ]
}
