// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// Fetches URLs with a client that reads its proxies from the environment, and prints a line for each: the status, the length and
/// whether the response has a `Via` field, or the error.
enum EnvironmentFetch {
    static func run(_ urls: ArraySlice<String>) async {
        var configuration = HTTPClient.Configuration()
        configuration.proxy = .environment
        let client = HTTPClient(configuration: configuration)
        for url in urls {
            do {
                let response = try await client.get(url)
                let size = try await response.body.collect().count
                print(response.status.code, size, response.fields.contains(.via) ? "via" : "straight")
            } catch {
                print(error)
            }
        }
        await client.shutdown()
    }
}
