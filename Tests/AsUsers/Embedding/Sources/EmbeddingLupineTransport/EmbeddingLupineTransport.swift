// SPDX-License-Identifier: MIT
import LupineTransport

/// The smallest program that uses the product LupineTransport: fetches a URL, without Foundation.
///
///     EmbeddingLupineTransport http://127.0.0.1:8080/
@main
struct EmbeddingLupineTransport {
    static func main() async throws {
        guard let url = CommandLine.arguments.dropFirst().first else {
            print("usage: EmbeddingLupineTransport URL")
            return
        }
        let client = HTTPClient()
        let response = try await client.get(url)
        var count = 0
        var sum = 0
        for try await piece in response.body {
            count += piece.count
            sum = piece.reduce(sum) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
        }
        print("LupineTransport fetched \(response.status.code): \(count) bytes, sum \(sum)")
        await client.shutdown()
    }
}
