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

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let response = await session.request("\(root)/status/404")
            .validate()
            .serializingData()
            .response
        demo.printResult("\(response.error.map { "\($0.localizedDescription)" } ?? "no error")")
        try demo.require(response.error?.responseCode == 404, "404 is an error")
    }
}
