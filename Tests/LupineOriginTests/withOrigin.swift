// SPDX-License-Identifier: MIT

import LupineOrigin
import LupineTestKit

/// Calls `body` with an origin of its own, which is shut down afterwards.
func withOrigin<Result>(
    _ configuration: OriginConfiguration = OriginConfiguration(), _ body: (Origin) async throws -> Result
) async throws -> Result {
    let origin = try Origin.start(configuration: configuration)
    do {
        let result = try await body(origin)
        await origin.shutdown()
        return result
    } catch {
        await origin.shutdown()
        throw error
    }
}

/// Calls `body` with an origin and a client connected to it.
func withClient<Result>(
    _ configuration: OriginConfiguration = OriginConfiguration(),
    _ body: (RawClient, Origin) async throws -> Result
) async throws -> Result {
    try await withOrigin(configuration) { try await body(RawClient(port: $0.port), $0) }
}

extension OriginConfiguration {
    /// Returns a configuration whose connections follow the plan.
    static func scripted(_ plan: ScriptPlan) -> OriginConfiguration {
        var configuration = OriginConfiguration()
        configuration.script = plan
        configuration.recordedBytes = 1 << 20
        return configuration
    }
}
