// SPDX-License-Identifier: MIT

import Lupine

/// JSON is decoded into values of a type.
enum TypedAct: DemoAct {
    static let title = "A typed GET"
    static let code = """
        struct Flower: Decodable, Sendable { let name: String, petals: Int }

        let flowers = try await session.request("\\(root)/flowers")
            .validate()
            .serializingDecodable([Flower].self)
            .value
        """

    struct Flower: Decodable, Sendable { let name: String, petals: Int }

    static func run(on stage: DemoStage) async throws {
        let (session, root) = (stage.session, stage.root)
        let flowers = try await session.request("\(root)/flowers")
            .validate()
            .serializingDecodable([Flower].self)
            .value
        for flower in flowers { stage.tell("\(flower.name), \(flower.petals) petals") }
        try stage.require(flowers.count == 2, "two flowers come back")
    }
}
