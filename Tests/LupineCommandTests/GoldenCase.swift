// SPDX-License-Identifier: MIT

import Testing

@testable import LupineCommand

/// A command line with its expected output and exit code. `@` stands for the origin's port, and the output has no dates.
///
/// There is at least one case for each option, as `GoldenTests` checks.
struct GoldenCase: CustomTestStringConvertible, Sendable {
    let line: String
    var code: ExitCode = .success
    /// The expected standard output, or, with `isPart`, a part of it.
    let output: String
    var isPart = false
    /// A part of the expected standard error.
    var errors = ""
    /// The standard input, if any.
    var input: String?
    var isTerminal = false
    /// The files that must exist afterwards, each with a text that it must contain.
    var files: [String: String] = [:]

    init(
        _ line: String, _ output: String = "", code: ExitCode = .success, part: Bool = false,
        errors: String = "",
        input: String? = nil, terminal: Bool = false, files: [String: String] = [:]
    ) {
        self.line = line
        self.output = output
        self.code = code
        isPart = part
        self.errors = errors
        self.input = input
        isTerminal = terminal
        self.files = files
    }

    var testDescription: String { line }

    /// A line for a route that returns the request as JSON, and a part of that.
    private static func echo(_ line: String, _ part: String, input: String? = nil) -> GoldenCase {
        GoldenCase(line, part, part: true, input: input)
    }

    /// Options for the request.
    static let sending: [GoldenCase] = [
        echo("-X PUT @/anything", "\"method\": \"PUT\""), echo("DELETE @/anything", "\"method\": \"DELETE\""),
        echo("@/anything -d a=b -d c=d", "\"a\": \"b\",\n    \"c\": \"d\""),
        echo("@/anything -d a", "\"method\": \"POST\""),
        echo("@/anything --data-raw @f", "\"@f\": \"\""),
        echo("@/anything --data-binary @lines", "\"one\\ntwo\\n\": \"\""),
        echo("@/anything -d @lines", "onetwo"), echo("@/anything --data-urlencode a=b&c", "\"a\": \"b&c\""),
        echo("@/anything --data-urlencode a@lines", "\"a\": \"one\\ntwo\\n\""),
        echo("@/anything -d @-", "\"from\": \"stdin\"", input: "from=stdin"),
        echo("@/anything -F a=b -F f=@lines", "\"f\": \"one\\ntwo\\n\""),
        echo("@/anything -F a=<lines", "\"a\": \"one\\ntwo\\n\""),
        echo("@/anything a=b n:=3", "\"json\": {\"a\": \"b\", \"n\": 3}"),
        echo("@/anything --json -d {}", "\"Content-Type\": \"application/json\""),
        echo("@/anything a=b a=c", "\"json\": {\"a\": \"c\"}"),
        echo("@/anything t=@lines", "\"t\": \"one\\ntwo\\n\""),
        echo("@/anything j:=@object", "\"j\": {\"x\":1}"),
        echo("--form @/anything a=b%20c", "\"a\": \"b%20c\""),
        echo("--form @/anything f@lines", "multipart/form-data"),
        echo("--multipart @/anything a=b", "multipart/form-data"),
        echo("@/anything @lines", "one\\ntwo\\n"),
        echo("--raw {\"a\":1} @/anything", "\"Content-Type\": \"application/json\""),
        echo("--raw text @/anything", "\"Content-Type\": \"text/plain; charset=utf-8\""),
        echo("@/anything", "\"json\": {\"a\":1}", input: "{\"a\":1}"),
        echo("@/anything", "\"method\": \"GET\"", input: ""),
        echo("--ignore-stdin @/anything", "\"method\": \"GET\"", input: "text"),
        echo("-T lines @/anything", "\"method\": \"PUT\""), echo("-T lines @/anything/", "/anything/lines"),
        echo("-G -d a=b @/anything", "\"a\": \"b\""), echo("@/anything q==1", "\"q\": \"1\""),
        echo("-H X-One:1 @/anything", "\"X-One\": \"1\""), echo("@/anything X-Two:2", "\"X-Two\": \"2\""),
        echo("-H X-None; @/anything", "\"X-None\": \"\""),
        echo("-A me/1 @/anything", "\"User-Agent\": \"me/1\""),
        echo("-e http://r.test/ @/anything", "\"Referer\": \"http://r.test/\""),
        echo("--compressed @/anything", "gzip, deflate, br"),
        echo("-u me:pw @/basic-auth/me/pw", "\"authenticated\": true"),
        echo("--digest -u me:pw @/digest-auth/auth/me/pw", "\"authenticated\": true"),
        echo("-n @/basic-auth/netuser/netpw", "\"authenticated\": true"),
        echo("-b a=b @/cookies", "\"a\": \"b\""),
        echo("-L @/redirect/2", "\"url\""), echo("--max-redirs 2 -L @/redirect/2", "\"url\""),
        echo("--no-downgrade -L @/redirect/2", "\"url\""),
        echo("--http1.1 @/anything", "\"method\""), echo("--http2 @/anything", "\"method\""),
        echo("--interface 127.0.0.1 @/anything", "\"method\""),
        echo("--limit-rate 1G @/anything", "\"method\""),
        echo("--connect-timeout 300 -m 500 @/anything", "\"method\""),
        echo("--noproxy * @/anything", "\"method\""),
        echo("--tlsv1.2 --tlsv1.3 @/anything", "\"method\""),
    ]

    /// Further options that command lines of curl and HTTPie often have.
    static let everyday: [GoldenCase] = [
        echo("--url @/anything", "\"method\": \"GET\""),
        echo("--url-query a=b&c @/anything", "\"a\": \"b&c\""),
        echo("--form-string a=@b @/anything", "\"a\": \"@b\""),
        GoldenCase("-r 2-4 @/range/26", "cde"), GoldenCase("-r -2 @/range/26", "yz"),
        echo("-r 0-4 @/headers", "\"Accept-Encoding\": \"identity\""),
        echo("-z 2024-01-02 @/headers", "\"If-Modified-Since\": \"Tue, 02 Jan 2024 00:00:00 GMT\""),
        echo("-z -2024-01-02 @/headers", "\"If-Unmodified-Since\": \"Tue, 02 Jan 2024 00:00:00 GMT\""),
        GoldenCase("-s -z 2024-01-02 -o lines @/cache", files: ["lines": "one\ntwo\n"]),
        GoldenCase("-z never @/get", "\"args\"", part: true, errors: "no date and no file"),
        GoldenCase("-s --etag-save tag -o f @/etag/x", files: ["tag": "\"x\"\n"]),
        GoldenCase(
            "-s --max-filesize 1 --etag-save lines @/etag/x", code: .tooLarge, files: ["lines": "one\n"]),
        echo("--etag-compare lines @/headers", "\"If-None-Match\": \"one\""),
        GoldenCase("--path-as-is @/a/../robots.txt", "nothing is here", part: true),
        GoldenCase("@/a/../robots.txt", "User-agent", part: true),
        GoldenCase("--default-scheme http @/robots.txt", "User-agent", part: true),
        echo("-g @/anything", "\"method\""), echo("-Z @/anything", "\"method\""),
        GoldenCase("-s @/status/404 --next -d a=b @/anything", "\"method\": \"POST\"", part: true),
        GoldenCase("-sf @/status/404 --next @/robots.txt", "User-agent", code: .clientError, part: true),
        echo("--basic -u me:pw @/basic-auth/me/pw", "true"),
        echo("--anyauth -u me:pw @/basic-auth/me/pw", "true"),
        echo("--anyauth -u me:pw @/digest-auth/auth/me/pw", "true"),
        echo("--auth-type bearer --auth t @/bearer", "\"token\": \"t\""),
        echo("--oauth2-bearer t @/bearer", "\"token\": \"t\""),
        echo("--netrc-file .netrc @/basic-auth/netuser/netpw", "true"),
        echo("--netrc-optional @/basic-auth/netuser/netpw", "true"),
        echo("-n --ignore-netrc @/headers", "\"headers\""),
        echo("--session-read-only me @/headers X-Kept:1", "X-Kept"),
        echo("-x http://127.0.0.1:@ -U me:pw http://flower.test/headers", "\"Proxy-Authorization\""),
        GoldenCase("--socks5-hostname 127.0.0.1:1 http://flower.test/", code: .connect),
        echo(
            "--connect-to flower.test:80:127.0.0.1:@ http://flower.test/headers", "\"Host\": \"flower.test\""),
        echo("--connect-to ::localhost:@ http://flower.test/headers", "\"Host\": \"flower.test\""),
        echo(
            "-L --connect-to ::localhost:@ http://a.test/redirect-to?url=http://b.test/headers",
            "\"Host\": \"b.test\""),
        echo(
            "-L --connect-to :80:localhost:@ http://a.test/redirect-to?url=http://b.test/headers",
            "\"Host\": \"b.test\""),
        echo(
            "-L --connect-to a.test::localhost:@ http://a.test:81/redirect-to?url=http://a.test/headers",
            "\"Host\": \"a.test\""),
        echo(
            "-L --connect-to b.test::localhost:@ --connect-to ::localhost:@ http://a.test/redirect-to?url=http://b.test/headers",
            "\"Host\": \"b.test\""),
        echo(
            "--connect-to ::localhost:@ --connect-to a.test::127.0.0.1:1 http://a.test/headers",
            "\"Host\": \"a.test\""),
        echo(
            "-x localhost:@ --connect-to :@:127.0.0.1:1 http://a.test:@/headers", "\"Host\": \"a.test:@\""),
        echo("-4 @/anything", "\"method\""), GoldenCase("-6 http://127.0.0.1:@/", code: .connect),
        GoldenCase("--max-filesize 10 @/robots.txt", code: .tooLarge, errors: "more than the 10 bytes"),
        GoldenCase(
            "--max-filesize 10 @/chunked/20", code: .tooLarge, part: true, errors: "more than the 10 bytes"),
        GoldenCase("--max-filesize 30 @/robots.txt", "User-agent", part: true),
        GoldenCase(
            "-f --retry 1 --retry-delay 0.01 --retry-all-errors @/status/404", code: .clientError,
            errors: "trying again in"),
        GoldenCase(
            "--retry 1 --retry-delay 0.01 --retry-connrefused http://127.0.0.1:1/", code: .connect,
            errors: "trying again in"),
        GoldenCase("-f --retry 5 --retry-max-time 0.01 @/status/503", code: .serverError),
        GoldenCase(
            "-s -i --retry 5 --retry-max-time 0.01 -o f @/status/503",
            files: ["f": "HTTP/1.1 503 Service Unavailable\r\n"]),
        GoldenCase("-s --retry 5 --retry-max-time 0.01 @/busy", "not now"),
        GoldenCase(
            "--fail-with-body --retry 5 --retry-max-time 0.01 -o f @/busy", code: .serverError,
            errors: "503 Service Unavailable", files: ["f": "not now"]),
        GoldenCase(
            "--retry 1 --retry-delay 0.01 --retry-max-time 0 -f @/status/503", code: .serverError,
            errors: "trying again in"),
        GoldenCase("--proto =https @/robots.txt", code: .malformedURL, errors: "--proto"),
        GoldenCase(
            "-L --proto-redir =https @/absolute-redirect/1", code: .redirects, errors: "--proto-redir"),
        GoldenCase(
            "--fail-with-body @/nothing", "nothing is here", code: .clientError, part: true,
            errors: "404 Not Found"),
        GoldenCase("--check-status @/bearer", code: .clientError, part: true, errors: "401 Unauthorized"),
        GoldenCase("--check-status @/robots.txt", "User-agent", part: true),
        GoldenCase("--offline @/robots.txt X-One:1", "X-One: 1\n", part: true),
        GoldenCase("--offline @/a --next http://127.0.0.1:1/b", "GET /b HTTP/1.1", part: true),
        GoldenCase("--to-curl @/a --next http://127.0.0.1:1/b", "http://127.0.0.1:1/b\n", part: true),
        GoldenCase("--all -L --headers @/redirect/1", "302 Found", part: true),
        GoldenCase("--quiet @/robots.txt"), echo("--unsorted @/anything", "\"method\""),
        GoldenCase("-s --download @/robots.txt", files: ["robots.txt": "User-agent"]),
        GoldenCase("-s --download -o f @/redirect-to?url=/robots.txt", files: ["f": "User-agent"]),
        GoldenCase(
            "--download -o lines @/nothing", code: .clientError, errors: "which --download makes",
            files: ["lines": "one\ntwo\n"]),
        GoldenCase("-s --download --continue -o part @/range/12", files: ["part": "abcdefghijkl"]),
        GoldenCase("-s --remote-name-all @/robots.txt", files: ["robots.txt": "User-agent"]),
        GoldenCase("-s --create-dirs --output-dir a/b -o c/f @/robots.txt", files: ["a/b/c/f": "User-agent"]),
        GoldenCase(
            "-s --remote-name-all -o f @/range/3 http://localhost:@/range/4",
            files: ["f": "abc", "4": "abcd"]),
        GoldenCase("-s --output-dir . -O @/robots.txt", files: ["./robots.txt": "User-agent"]),
        GoldenCase("-s -R -# -o f @/range/5", files: ["f": "abcde"]),
        echo("@/anything f[a]=1 f[b][]:=2", "\"json\": {\"f\": {\"a\": \"1\", \"b\": [2]}}"),
        echo("@/anything X-One:1", "\"data\": \"text\"", input: "text"),
        echo("-X POST -T lines @/headers", ""),
    ]

    /// Options for the output and the reports, and failures.
    static let printing: [GoldenCase] = [
        GoldenCase("@/bytes/4?seed=1 -o /dev/null"),
        GoldenCase("@/robots.txt", "User-agent: *\nDisallow: /deny\n"),
        GoldenCase(
            "-i @/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /deny\n"
        ),
        GoldenCase(
            "-I @/robots.txt", "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\n"),
        GoldenCase(
            "--headers @/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\n"),
        GoldenCase("--body @/robots.txt", "User-agent: *\nDisallow: /deny\n"),
        GoldenCase("--print m @/robots.txt", "total ", part: true),
        GoldenCase(
            "--print HB -d a=b @/post",
            "POST /post HTTP/1.1\nContent-Length: 3\nHost: localhost:@\nUser-Agent: lupine/1.0.0\nAccept: */*\nContent-Type: application/x-www-form-urlencoded\nAccept-Encoding: gzip, deflate, br\nConnection: keep-alive\n\na=b\n\n"
        ),
        GoldenCase(
            "--color never @/robots.txt",
            "HTTP/1.1 200 OK\nContent-Length: 30\nContent-Type: text/plain\n\nUser-agent: *\nDisallow: /deny\n",
            terminal: true),
        GoldenCase("@/cookies --body --color never", "{\n    \"cookies\": {}\n}\n", terminal: true),
        GoldenCase("@/cookies --body", "{\n    \u{1B}[36m\"cookies\"\u{1B}[0m: {}\n}\n", terminal: true),
        GoldenCase(
            "@/cookies --body --pretty none --color never", "{\n  \"cookies\": {}\n}\n", terminal: true),
        GoldenCase("@/cookies --pretty format", "{\n    \"cookies\": {}\n}\n"),
        GoldenCase("@/cookies --pretty colors --color always", "{\u{1B}[36m\"cookies\"\u{1B}[0m: {}}\n"),
        GoldenCase("@/stream/2 -N --pretty all --color never", "\"id\": 0}\n{\"args\": {}", part: true),
        GoldenCase(
            "--body @/image/png", "that are no text: save them with -o FILE", part: true, terminal: true),
        GoldenCase(
            "-v @/robots.txt", "User-agent: *\nDisallow: /deny\n",
            errors: "> GET /robots.txt HTTP/1.1\n> Host: localhost:"),
        GoldenCase(
            "-v -H Authorization:secret @/robots.txt", "User-agent", part: true,
            errors: "> Authorization: (hidden)"),
        GoldenCase("-s @/status/404"), GoldenCase("-sf @/status/404", code: .clientError),
        GoldenCase("-sSf @/status/404", code: .clientError, errors: "404 Not Found"),
        GoldenCase("-f @/status/503", code: .serverError, errors: "503 Service Unavailable"),
        GoldenCase("@/status/302", code: .success),
        GoldenCase(
            "-w %{http_code}:%{size_download}:%{num_redirects}\\n -o /dev/null -s @/robots.txt", "200:30:0\n"),
        GoldenCase("-w %{http_version} -o /dev/null -s @/robots.txt", "1.1"),
        GoldenCase("-w %{http_version} -o /dev/null -s data:text/plain,hello", "0"),
        GoldenCase(
            "-w %header{content-type}|%%|%{unknown}|%{method} -o /dev/null -s @/robots.txt",
            "text/plain|%||GET"),
        GoldenCase("--raw-encoding @/get", "\"headers\"", part: true),
        GoldenCase(
            "-D - @/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /deny\n"
        ),
        GoldenCase("--timing @/robots.txt", "User-agent", part: true, errors: "200 GET http://localhost:"),
        GoldenCase("--timing=json @/robots.txt", "User-agent", part: true, errors: "{\"total\": "),
        GoldenCase(
            "--events -L @/redirect/1", "\"url\"", part: true, errors: "redirect 302 to GET http://localhost:"
        ),
        GoldenCase(
            "--certs @/robots.txt", "User-agent", part: true, errors: "No server presented a certificate"),
        GoldenCase("--sse @/events?count=2", "{\"id\": 1}\n{\"id\": 2}\n"),
        GoldenCase("--sse @/status/404", code: .clientError, errors: "answered 404"),
        GoldenCase("--no-progress-meter -o f @/robots.txt"),
        GoldenCase("-o f @/robots.txt", errors: "f: 30 B (100%)"),
        GoldenCase("--max-redirs 1 -L @/redirect/3", code: .redirects, errors: "more than 1 redirects"),
        GoldenCase("-m 0.2 @/delay/5", code: .timeout, errors: "--max-time"),
        GoldenCase("--unix-socket /nowhere/s @/get", code: .connect, errors: "Cannot load"),
        GoldenCase("-x 127.0.0.1:1 @/get", code: .connect, errors: "Cannot load"),
        GoldenCase("-b missing.jar @/get", code: .read, errors: "missing.jar"),
        GoldenCase("-T missing @/put", code: .read, errors: "missing"),
        GoldenCase("--cacert missing https://localhost:1/", code: .untrusted, errors: "--cacert missing"),
        GoldenCase("--cert missing https://localhost:1/", code: .read, errors: "missing"),
        GoldenCase("--pin nonsense https://localhost:1/", code: .usage, errors: "--pin needs"),
        GoldenCase("-o nowhere/f @/get", code: .write, errors: "nowhere/f"),
        GoldenCase("-k https://localhost:@/", code: .tls, errors: "http://"),
        GoldenCase("@/x", code: .usage, errors: "-X POST", input: "body").with("GET"),
    ]

    /// Options that save files.
    static let saving: [GoldenCase] = [
        GoldenCase("-s -c jar @/cookies/set/a/b", part: true, files: ["jar": "\ta\tb\n"]),
        GoldenCase(
            "-s --cookie-jar jar -L @/cookies/set/c/d", "\"c\": \"d\"", part: true, files: ["jar": "\tc\td\n"]
        ),
        GoldenCase(
            "-s --session me @/headers X-Kept:1", "\"X-Kept\": \"1\"", part: true,
            files: [".local/share/lupine/sessions/http_localhost_@/me.json": "X-Kept"]),
        GoldenCase("-s -O @/robots.txt", files: ["robots.txt": "User-agent: *\nDisallow: /deny\n"]),
        GoldenCase(
            "-sOJ @/response-headers?Content-Disposition=attachment%3B%20filename%3Dgiven.txt",
            files: ["given.txt": "\"Content-Disposition\": \"attachment; filename=given.txt\""]),
        GoldenCase(
            "-sOJ @/response-headers?Content-Disposition=attachment%3B%20filename%3Dlines", code: .write,
            files: ["lines": "one\ntwo\n"]),
        GoldenCase("-s -C - -o part @/range/12", files: ["part": "abcdefghijkl"]),
        GoldenCase("-s -C 3 -o part @/range/5", files: ["part": "abcde"]),
        GoldenCase("-s -o f @/range/5", files: ["f": "abcde"]),
        GoldenCase("-si -o f @/robots.txt", files: ["f": "Content-Length: 30\r\n"]),
        GoldenCase(
            "-s -D heads @/robots.txt", "User-agent", part: true, files: ["heads": "HTTP/1.1 200 OK\r\n"]),
        GoldenCase(
            "-s -o one -o two http://localhost:@/range/3 http://localhost:@/range/4",
            files: ["one": "abc", "two": "abcd"]),
        GoldenCase(
            "-s --url @/range/3 -o one http://localhost:@/range/4 -o two",
            files: ["one": "abc", "two": "abcd"]),
    ]

    /// Options for connections and retries.
    static let connecting: [GoldenCase] = [
        GoldenCase(
            "--resolve flower.test:@:127.0.0.1 flower.test:@/headers", "\"Host\": \"flower.test:@\"",
            part: true),
        GoldenCase("--resolve *:@:127.0.0.1 flower.test:@/get", "\"url\"", part: true),
        GoldenCase("-sS -f --retry 1 @/status/503", code: .serverError, errors: "503 Service Unavailable"),
        GoldenCase("-f --retry 1 @/status/503", code: .serverError, errors: "trying again in 1.00 s (0 more"),
        GoldenCase(
            "-x 127.0.0.1:@ http://flower.test/anything", "\"url\": \"http://flower.test/anything\"",
            part: true),
        GoldenCase("-x 127.0.0.1:1 --noproxy localhost @/get", "\"url\"", part: true),
    ]

    /// Options that print a text and send nothing.
    static let describing: [GoldenCase] = [
        GoldenCase(
            "--to-curl -u me:pw h.test/x",
            "curl -H 'User-Agent: lupine/1.0.0' -u 'me:***' --compressed http://h.test/x\n"),
        GoldenCase(
            "--to-curl --show-secrets -u me:pw h.test/x",
            "curl -H 'User-Agent: lupine/1.0.0' -u me:pw --compressed http://h.test/x\n"),
        GoldenCase(
            "--to-curl --http2-prior-knowledge h.test/x",
            "curl -H 'User-Agent: lupine/1.0.0' --http2-prior-knowledge --compressed http://h.test/x\n"),
        GoldenCase("--version", "lupine 1.0.0\n"), GoldenCase("-V", "lupine 1.0.0\n"),
        GoldenCase("--help", "lupine [METHOD] URL [ITEM...]\n", part: true),
        GoldenCase("-h", "lupine help ITEM", part: true),
    ]

    /// Options for TLS.
    static let tls: [GoldenCase] = [
        GoldenCase("-k https://localhost:@/robots.txt", "User-agent: *\nDisallow: /deny\n"),
        GoldenCase("--cacert root.pem https://localhost:@/robots.txt", "User-agent", part: true),
        GoldenCase("https://localhost:@/robots.txt", code: .untrusted, errors: "--cacert"),
        GoldenCase("-k --pin PIN https://localhost:@/robots.txt", "User-agent", part: true),
        GoldenCase(
            "-k --pin sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= https://localhost:@/robots.txt",
            code: .pin, errors: "PIN"),
        GoldenCase(
            "-k --certs https://localhost:@/robots.txt", "User-agent", part: true, errors: "--pin PIN"),
        GoldenCase(
            "-k --tlsv1.3 -v https://localhost:@/robots.txt", "User-agent", part: true,
            errors: ", TLS 1.3, HTTP/1.1, sent "),
        GoldenCase("-k --tlsv1.2 https://localhost:@/robots.txt", "User-agent", part: true),
        GoldenCase(
            "-k -E client.pem --key client.key https://localhost:@/robots.txt", "User-agent", part: true),
        GoldenCase(
            "-k --cert client.pem --key locked.key --pass lupine https://localhost:@/robots.txt",
            "User-agent",
            part: true),
        GoldenCase(
            "-k --cert client.pem --key locked.key --pass wrong https://localhost:@/robots.txt",
            code: .clientCertificate, errors: "--pass"),
        GoldenCase(
            "--verify no --tls-max 1.2 -v https://localhost:@/robots.txt", "User-agent", part: true,
            errors: "TLS 1.2"),
        GoldenCase("--verify root.pem --ssl tls1.2 https://localhost:@/robots.txt", "User-agent", part: true),
        GoldenCase(
            "-k --tls-max 1.2 --ciphers ECDHE-ECDSA-AES256-GCM-SHA384 -v https://localhost:@/robots.txt",
            "User-agent", part: true),
        GoldenCase(
            "-k --tls13-ciphers TLS_CHACHA20_POLY1305_SHA256 -v https://localhost:@/robots.txt", "User-agent",
            part: true),
        GoldenCase("-k --tls-max 1.2 --ciphers nonsense https://localhost:@/robots.txt", code: .tls),
        GoldenCase(
            "-k --cert client.pem:x https://localhost:@/robots.txt", code: .clientCertificate, errors: "--key"
        ),
    ]

    /// All cases.
    static var all: [GoldenCase] {
        sending + everyday + printing + saving + connecting + describing + tls
    }

    /// Returns the case with a method before the line.
    private func with(_ method: String) -> GoldenCase {
        GoldenCase(
            "\(method) \(line)", output, code: code, part: isPart, errors: errors, input: input,
            terminal: isTerminal, files: files)
    }
}
