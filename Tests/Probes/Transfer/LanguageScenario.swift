// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// One request each by a `Session`, a `URLSession` and a `Session` whose configuration has no fields, to `/session`, `/loading`
/// and `/plain`: the environment of the process determines the languages that they request.
struct LanguageScenario {
    let url: String

    func asks() async throws -> Bool {
        let usual = URLSessionConfiguration.af.ephemeral
        let plain = URLSessionConfiguration.ephemeral
        for configuration in [usual, plain] { configuration.connectionProxyDictionary = [:] }
        guard let loading = URL(string: url + "/loading") else { return false }
        _ = try await URLSession(configuration: plain).data(from: loading)
        for (name, configuration) in [("session", usual), ("plain", plain)] {
            let session = Session(configuration: configuration)
            let response = await session.request("\(url)/\(name)").serializingData().response
            guard response.error == nil else { return false }
        }
        return true
    }
}
