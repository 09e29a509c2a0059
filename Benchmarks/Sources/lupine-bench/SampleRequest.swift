// SPDX-License-Identifier: MIT

/// The request that the encoders write: a typical GET of an API client.
struct SampleRequest {
    let method = "GET"
    let target = "/v1/accounts/4711/orders?limit=50&after=2026-03-14"
    let host = "api.example.com"
    let fields: [(name: String, value: String)] = [
        ("Accept", "application/json"),
        ("Accept-Encoding", "br;q=1.0, gzip;q=0.9, deflate;q=0.8"),
        ("Accept-Language", "en;q=1.0, de;q=0.9"),
        ("Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0NzExIn0.c2lnbmF0dXJl"),
        ("User-Agent", "Example/1.4 (com.example.app; build:87; Linux 6.1) Lupine/1.0"),
    ]

    /// The head that every encoder must write.
    var wire: String {
        let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n"
    }
}
