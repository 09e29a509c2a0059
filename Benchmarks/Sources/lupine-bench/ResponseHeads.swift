// SPDX-License-Identifier: MIT

/// Typical response heads of servers, for the benchmarks that parse heads.
enum ResponseHeads {
    /// nginx with a small JSON file: 245 bytes, 8 fields.
    static let nginx = wire([
        "HTTP/1.1 200 OK",
        "Server: nginx/1.22.1",
        "Date: Sat, 14 Mar 2026 09:26:53 GMT",
        "Content-Type: application/json",
        "Content-Length: 953",
        "Last-Modified: Fri, 13 Mar 2026 18:05:11 GMT",
        "Connection: keep-alive",
        "ETag: \"69b452a7-3b9\"",
        "Accept-Ranges: bytes",
    ])

    /// A page from a content delivery network: 886 bytes, 24 fields.
    static let network = wire([
        "HTTP/1.1 200 OK",
        "Connection: keep-alive",
        "Content-Length: 48211",
        "Content-Type: text/html; charset=utf-8",
        "Content-Encoding: gzip",
        "Cache-Control: public, max-age=300, s-maxage=3600, stale-while-revalidate=60",
        "ETag: W/\"bc53-Jq3gLk0QmZ1vXy8sT4uRwE2aPdo\"",
        "Last-Modified: Sat, 14 Mar 2026 08:00:02 GMT",
        "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload",
        "X-Content-Type-Options: nosniff",
        "X-Frame-Options: SAMEORIGIN",
        "Referrer-Policy: strict-origin-when-cross-origin",
        "Accept-Ranges: bytes",
        "Date: Sat, 14 Mar 2026 09:26:53 GMT",
        "Via: 1.1 edge-a, 1.1 edge-b",
        "Age: 1742",
        "X-Served-By: cache-fra-19163-FRA, cache-ams-21044-AMS",
        "X-Cache: MISS, HIT",
        "X-Cache-Hits: 0, 27",
        "X-Timer: S1773480413.428118,VS0,VE1",
        "Vary: Accept-Encoding, Cookie",
        "Server-Timing: cdn;dur=1;desc=hit",
        "Alt-Svc: h3=\":443\";ma=86400",
        "X-Request-Id: 7f3a9c1e-52d8-4b06-9e0f-3ac81d5b7726",
        "Server: edge/2.4.11-rc",
    ])

    /// Returns a small response with its body in `count` chunks of `size` bytes.
    static func chunked(size: Int, count: Int) -> [UInt8] {
        var bytes = wire([
            "HTTP/1.1 200 OK", "Server: nginx/1.22.1", "Content-Type: application/json",
            "Transfer-Encoding: chunked",
        ])
        let data = [UInt8](repeating: 0x61, count: size)
        for _ in 0..<count {
            bytes += Array((String(size, radix: 16) + "\r\n").utf8) + data + [13, 10]
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }

    /// Returns names and values of a head, parsed naively.
    static func fields(of head: [UInt8]) -> [(name: String, value: String)] {
        String(decoding: head, as: UTF8.self).split(separator: "\r\n").dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let name = line.prefix(upTo: colon)
            return (String(name), String(line.dropFirst(name.count + 2)))
        }
    }

    private static func wire(_ lines: [String]) -> [UInt8] {
        Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }
}
