// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// With `validate()`, an unsuccessful status becomes an error.
enum ValidationAct: DemoAct {
    static let title = "A status that validation refuses"
    static let code = """
        let response = await session.request("\\(root)/status/404")
            .validate()
            .serializingData()
            .response
        """

    static func run(on stage: DemoStage) async throws {
        let (session, root) = (stage.session, stage.root)
        let response = await session.request("\(root)/status/404")
            .validate()
            .serializingData()
            .response
        stage.tell("\(response.error.map { "\($0.localizedDescription)" } ?? "no error")")
        try stage.require(response.error?.responseCode == 404, "404 is an error")
    }
}
