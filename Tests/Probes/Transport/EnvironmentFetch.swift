// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// Fetches URLs by a client that reads the environment for its proxies, and prints a line about each: the status and
/// whether a proxy has put its name on the response, or the error.
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
