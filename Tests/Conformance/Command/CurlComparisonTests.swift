// SPDX-License-Identifier: MIT

import LupineOrigin
import Testing

/// `lupine` and `curl` with the same arguments and URLs: both must save the same body, and succeed or fail alike.
///
/// `@` stands for the origin, `%` for nginx with the origin behind `/up/`. There are at least sixty lines for each of them, and
/// some for each theme.
@Suite struct CurlComparisonTests {
    /// The subject of a command line.
    enum Theme: CaseIterable, Sendable {
        case plain, statuses, redirects, authentication, codings, ranges, forms, failures
    }

    static let atOrigin: [Theme: [String]] = [
        .plain: [
            "@/get", "'@/get?a=b&c=d'", "'@/get?a=b%20c'", "@/headers", "@/json", "@/html", "@/xml",
            "@/encoding/utf8", "@/robots.txt", "@/image/png", "@/bytes/100000?seed=3",
            "@/stream-bytes/50000?seed=3", "@/stream/5", "'@/drip?duration=0.2&numbytes=20'", "@/bytes/0",
            "@/ip",
            "@/user-agent", "-I -o /dev/null @/get", "@/base64/aGVsbG8", "@/anything/a/b/c",
            "@/nothing/there",
            "-b a=b @/cookies", "-b 'a=b; c=d' @/cookies", "-b jar @/cookies",
            "-H 'X-One: 1' -H 'X-Two;' @/headers", "-e http://r.test/ @/headers",
        ],
        .statuses: [
            "@/status/204", "@/status/404", "@/status/500", "-f @/status/404", "-f @/status/500",
            "-f @/status/200",
            "-H 'If-None-Match: \"x\"' @/etag/x", "-H 'If-None-Match: \"y\"' @/etag/x",
        ],
        .redirects: [
            "@/redirect/1", "-L @/redirect/1", "-L @/redirect/5", "-L @/relative-redirect/3",
            "-L @/absolute-redirect/3", "-L --max-redirs 2 @/redirect/5", "-L --max-redirs 5 @/redirect/5",
            "-L '@/redirect-to?url=/get'", "-L -d a=b '@/redirect-to?url=/anything&status_code=307'",
            "-L -d a=b '@/redirect-to?url=/anything&status_code=308'",
            "-L -d a=b '@/redirect-to?url=/anything&status_code=303'",
            "-L -d a=b '@/redirect-to?url=/anything&status_code=302'", "-L @/cookies/set/a/b",
            "-c jar -L @/cookies/set/x/y",
        ],
        .authentication: [
            "-u me:pw @/basic-auth/me/pw", "-u me:no @/basic-auth/me/pw", "@/basic-auth/me/pw",
            "-f @/basic-auth/me/pw", "-n @/basic-auth/me/pw", "--digest -u me:pw @/digest-auth/auth/me/pw",
            "--digest -u me:no @/digest-auth/auth/me/pw",
            "--digest -u me:pw @/digest-auth/auth/me/pw/SHA-256",
            "-H 'Authorization: Bearer t' @/bearer", "@/bearer",
        ],
        .codings: ["@/gzip", "@/deflate", "@/brotli", "-L '@/redirect-to?url=/gzip'"],
        .ranges: [
            "-H 'Range: bytes=10-19' @/range/100", "-H 'Range: bytes=90-' @/range/100",
            "-H 'Range: bytes=-7' @/range/100", "-H 'Range: bytes=0-0' @/range/100",
            "-H 'Range: bytes=500-' @/range/100", "-f -H 'Range: bytes=500-' @/range/100",
        ],
        .forms: [
            "-d a=b @/post", "-d a=b -d c=d @/post", "-d @lines @/post", "--data-binary @lines @/post",
            "--data-urlencode 'a=b c&d' @/post", "-G -d a=b @/get", "-X PUT -d a=b @/put",
            "-X DELETE @/delete",
            "-X PATCH --data-raw @x @/patch", "-F a=b @/post", "-F a=b -F f=@lines @/post",
            "-F 'f=@lines;type=text/csv' @/post", "-F 'a=<lines' @/post", "-T lines @/put",
            "-H 'Content-Type: application/json' -d '{\"a\": 1}' @/post", "--data-binary @blob @/hash",
            "-T blob @/hash",
        ],
        .failures: [
            "http://127.0.0.1:1/", "http://nosuch.invalid/", "-m 0.3 @/delay/5", "ftp-x://h.test/",
            "-T missing @/put", "--resolve flower.test:1:127.0.0.1 http://flower.test:1/",
        ],
    ]

    static let atServer: [Theme: [String]] = [
        .plain: [
            "%/page.txt", "%/short", "%/empty", "%/teapot", "%/up/get", "'%/up/get?a=b&c=d'", "%/up/json",
            "%/up/html",
            "%/up/encoding/utf8", "'%/up/bytes/100000?seed=3'", "%/up/bytes/0", "%/up/stream/5",
            "-I -o /dev/null %/page.txt",
        ],
        .statuses: [
            "%/missing", "-f %/missing", "%/up/status/404", "-f %/up/status/500",
            "-H 'If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT' %/page.txt",
        ],
        .redirects: [
            "%/moved", "-L %/moved", "-L %/loop", "-L %/found", "-L %/other", "-L -d a=b %/kept",
            "-L -d a=b %/kept-for-good", "-L %/up/redirect/2", "-L %/up/redirect/5",
            "-L %/up/relative-redirect/3",
            "-L --max-redirs 2 %/up/redirect/5", "-L '%/up/redirect-to?url=/get'",
            "-L -d a=b '%/up/redirect-to?url=/anything&status_code=307'",
            "-L -d a=b '%/up/redirect-to?url=/anything&status_code=303'",
        ],
        .authentication: [
            "%/private", "-f %/private", "-u me:pw %/private", "-u me:no %/private", "-f -u me:no %/private",
            "-n %/private", "-L -u me:pw %/to-private", "%/up/basic-auth/me/pw",
            "-u me:pw %/up/basic-auth/me/pw", "-H 'Authorization: Bearer t' %/up/bearer",
        ],
        .codings: [
            "%/long.txt", "-H 'Accept-Encoding: identity' %/long.txt", "%/up/gzip", "%/up/deflate",
            "%/up/brotli",
        ],
        .ranges: [
            "-H 'Range: bytes=5-20' %/page.txt", "-H 'Range: bytes=5-20,30-40' -o /dev/null %/page.txt",
            "-H 'Range: bytes=0-0' %/page.txt", "-H 'Range: bytes=-10' %/page.txt",
            "-H 'Range: bytes=8790-' %/page.txt", "-f -H 'Range: bytes=99999-' %/page.txt",
            "-H 'Range: bytes=0-4' -H 'If-Range: \"x\"' %/page.txt", "-H 'Range: bytes=10-19' %/up/range/100",
        ],
        .forms: [
            "-d a=b %/up/post", "-d a=b -d c=d %/up/post", "-d @lines %/up/post",
            "--data-binary @lines %/up/post",
            "--data-urlencode 'a=b c&d' %/up/post", "-G -d a=b %/up/get", "-F a=b %/up/post",
            "-F a=b -F f=@lines %/up/post", "-F 'f=@lines;type=text/csv' %/up/post", "-X PUT -d a=b %/up/put",
            "-H 'Content-Type: application/json' -d '{\"a\": 1}' %/up/post", "--data-binary @blob %/up/hash",
            "-T blob %/up/hash", "-T lines %/up/put",
        ],
        .failures: ["-m 0.3 %/up/delay/5", "-T missing %/up/put"],
    ]

    /// Returns all lines of a table, in the order of the themes.
    private static func lines(_ table: [Theme: [String]]) -> [String] {
        Theme.allCases.flatMap { table[$0] ?? [] }
    }

    @Test func bothServersSeeEveryTheme() {
        for table in [Self.atOrigin, Self.atServer] {
            let lines = Self.lines(table)
            #expect(Set(lines).count == lines.count && lines.count >= 60)
            for theme in Theme.allCases { #expect(table[theme]?.isEmpty == false, "\(theme)") }
        }
    }

    private func compare(_ line: String, _ comparison: CurlComparison) async throws {
        let (ours, theirs) = try await comparison.outcomes(of: line)
        #expect(
            ours.succeeded == theirs.succeeded,
            "lupine: \(comparison.message("lupine")) curl: \(comparison.message("curl"))")
        // Compared outside `#expect`: Swift Testing would search for the shortest list of differences.
        let isSame = ours.body == theirs.body
        #expect(
            isSame,
            "lupine: \(String(decoding: ours.body.prefix(2000), as: UTF8.self)) curl: \(String(decoding: theirs.body.prefix(2000), as: UTF8.self))"
        )
    }

    @Test(.timeLimit(.minutes(10)), arguments: Self.lines(Self.atOrigin))
    func atTheOrigin(_ line: String) async throws {
        let origin = try LupineOrigin.Origin.start()
        let comparison = try CurlComparison()
        do {
            if line.contains("-b jar") {
                _ = try await comparison.outcomes(
                    of: "-c jar -L http://127.0.0.1:\(origin.port)/cookies/set/x/y")
            }
            try await compare(line.replacing("@/", with: "http://127.0.0.1:\(origin.port)/"), comparison)
        } catch { Issue.record("\(error)") }
        comparison.remove()
        await origin.shutdown()
    }

    @Test(.timeLimit(.minutes(10)), arguments: Self.lines(Self.atServer))
    func atNginx(_ line: String) async throws {
        let origin = try LupineOrigin.Origin.start()
        let comparison = try CurlComparison()
        let server = NginxServer(
            locations: """
                gzip on; gzip_min_length 1; gzip_types text/plain;
                location = /moved { return 301 /page.txt; }
                location = /loop { return 302 /loop; }
                location = /found { return 302 /page.txt; }
                location = /other { return 303 /page.txt; }
                location = /kept { return 307 /up/post; }
                location = /kept-for-good { return 308 /up/post; }
                location = /to-private { return 302 /private; }
                location = /private { auth_basic "private"; auth_basic_user_file passwords; try_files /page.txt =404; }
                location = /empty { return 204; }
                location = /teapot { return 418 "short and stout"; }
                location = /short { return 200 "short"; }
                location /up/ { proxy_pass http://127.0.0.1:\(origin.port)/; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_redirect / /up/; }
                """,
            site: [
                ("page.txt", String(repeating: "All work and no play.\n", count: 400)),
                ("long.txt", (0..<3000).map { "\($0) lupins\n" }.joined()),
                ("passwords", "me:{PLAIN}pw\n"),
            ])
        do {
            try await ServerProcess.with(server) { nginx in
                try await compare(line.replacing("%/", with: nginx.url + "/"), comparison)
            }
        } catch { Issue.record("\(error)") }
        comparison.remove()
        await origin.shutdown()
    }
}
