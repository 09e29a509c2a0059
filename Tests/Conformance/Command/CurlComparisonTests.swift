// SPDX-License-Identifier: MIT

import LupineOrigin
import Testing

/// `lupine` and `curl` with the same words at the same addresses: the same bodies, success where the other succeeds.
///
/// `@` is the origin, `%` nginx with the origin behind `/up/`.
@Suite struct CurlComparisonTests {
    static let origin: [String] = [
        // Plain.
        "@/get", "'@/get?a=b&c=d'", "'@/get?a=b%20c'", "@/headers", "@/json", "@/html", "@/xml",
        "@/encoding/utf8",
        "@/robots.txt", "@/image/png", "@/bytes/100000?seed=3", "@/stream-bytes/50000?seed=3", "@/stream/5",
        "'@/drip?duration=0.2&numbytes=20'", "@/bytes/0", "@/ip", "@/user-agent", "-I -o /dev/null @/get",
        "@/base64/aGVsbG8", "@/anything/a/b/c", "@/nothing/there",
        // Statuses.
        "@/status/204", "@/status/404", "@/status/500", "-f @/status/404", "-f @/status/500",
        "-f @/status/200",
        // Redirects.
        "@/redirect/1", "-L @/redirect/1", "-L @/redirect/5", "-L @/relative-redirect/3",
        "-L @/absolute-redirect/3",
        "-L --max-redirs 2 @/redirect/5", "-L --max-redirs 5 @/redirect/5", "-L '@/redirect-to?url=/get'",
        "-L -d a=b '@/redirect-to?url=/anything&status_code=307'",
        "-L -d a=b '@/redirect-to?url=/anything&status_code=303'",
        "-L -d a=b '@/redirect-to?url=/anything&status_code=302'", "-L @/cookies/set/a/b",
        // Who asks.
        "-u me:pw @/basic-auth/me/pw", "-u me:no @/basic-auth/me/pw", "@/basic-auth/me/pw",
        "-n @/basic-auth/me/pw",
        "--digest -u me:pw @/digest-auth/auth/me/pw", "--digest -u me:no @/digest-auth/auth/me/pw",
        "--digest -u me:pw @/digest-auth/auth/me/pw/SHA-256", "-H 'Authorization: Bearer t' @/bearer",
        "-b a=b @/cookies", "-b 'a=b; c=d' @/cookies", "-c jar -L @/cookies/set/x/y", "-b jar @/cookies",
        // Codings and ranges.
        "@/gzip", "@/deflate", "@/brotli", "-H 'Range: bytes=10-19' @/range/100",
        "-H 'Range: bytes=90-' @/range/100",
        "-H 'Range: bytes=500-' @/range/100", "-H 'If-None-Match: \"x\"' @/etag/x",
        "-H 'If-None-Match: \"y\"' @/etag/x",
        // Bodies.
        "-d a=b @/post", "-d a=b -d c=d @/post", "-d @lines @/post", "--data-binary @lines @/post",
        "--data-urlencode 'a=b c&d' @/post", "-G -d a=b @/get", "-X PUT -d a=b @/put", "-X DELETE @/delete",
        "-X PATCH --data-raw @x @/patch", "-F a=b @/post", "-F a=b -F f=@lines @/post", "-T lines @/put",
        "-H 'Content-Type: application/json' -d '{\"a\": 1}' @/post", "--data-binary @blob @/hash",
        "-T blob @/hash",
        "-H 'X-One: 1' -H 'X-Two;' @/headers", "-e http://r.test/ @/headers",
        // Failures.
        "http://127.0.0.1:1/", "http://nosuch.invalid/", "-m 0.3 @/delay/5", "ftp-x://h.test/",
        "-T missing @/put",
        "--resolve flower.test:1:127.0.0.1 http://flower.test:1/",
    ]

    static let nginx: [String] = [
        "%/page.txt", "-H 'Range: bytes=5-20' %/page.txt",
        "-H 'Range: bytes=5-20,30-40' -o /dev/null %/page.txt",
        "%/missing", "-f %/missing", "%/moved", "-L %/moved", "-L %/loop", "%/private", "-u me:pw %/private",
        "-u me:no %/private", "-f -u me:no %/private", "%/up/get", "-L %/up/redirect/2", "%/up/gzip",
        "-d a=b %/up/post", "-T blob %/up/hash", "-I -o /dev/null %/page.txt", "%/short", "%/empty",
        "%/teapot",
        "-H 'If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT' %/page.txt",
    ]

    private func compare(_ line: String, _ comparison: CurlComparison) async throws {
        let (ours, theirs) = try await comparison.outcomes(of: line)
        #expect(
            ours.succeeded == theirs.succeeded,
            "lupine: \(comparison.message("lupine")) curl: \(comparison.message("curl"))")
        #expect(
            ours.body == theirs.body,
            "lupine: \(String(decoding: ours.body.prefix(2000), as: UTF8.self)) curl: \(String(decoding: theirs.body.prefix(2000), as: UTF8.self))"
        )
    }

    @Test(.timeLimit(.minutes(5)), arguments: Self.origin)
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

    @Test(.timeLimit(.minutes(5)), arguments: Self.nginx)
    func atNginx(_ line: String) async throws {
        let origin = try LupineOrigin.Origin.start()
        let comparison = try CurlComparison()
        let server = NginxServer(
            locations: """
                gzip on; gzip_min_length 1; gzip_types text/plain;
                location = /moved { return 301 /page.txt; }
                location = /loop { return 302 /loop; }
                location = /private { auth_basic "private"; auth_basic_user_file passwords; try_files /page.txt =404; }
                location = /empty { return 204; }
                location = /teapot { return 418 "short and stout"; }
                location = /short { return 200 "short"; }
                location /up/ { proxy_pass http://127.0.0.1:\(origin.port)/; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_redirect / /up/; }
                """,
            site: [
                ("page.txt", String(repeating: "All work and no play.\n", count: 400)),
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
