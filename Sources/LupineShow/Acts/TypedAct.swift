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

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let flowers = try await session.request("\(root)/flowers")
            .validate()
            .serializingDecodable([Flower].self)
            .value
        for flower in flowers { demo.printResult("\(flower.name), \(flower.petals) petals") }
        try demo.require(flowers.count == 2, "two flowers come back")
    }
}
