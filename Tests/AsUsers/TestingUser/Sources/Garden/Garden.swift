// SPDX-License-Identifier: MIT

import Lupine

/// What the program is about: a client of a server that has flowers.
public struct Garden: Sendable {
    public struct Flower: Codable, Hashable, Sendable {
        public var name: String
        public var petals: Int

        public init(name: String, petals: Int) {
            self.name = name
            self.petals = petals
        }
    }

    private let session: Session
    private let address: String

    /// A client of the server at an address, by a session that the program, or its test, has made.
    public init(session: Session = .default, address: String) {
        self.session = session
        self.address = address
    }

    /// The flower of a name.
    public func flower(_ name: String) async throws -> Flower {
        try await session.request("\(address)/flowers/\(name)").validate()
            .serializingDecodable(Flower.self).value
    }

    /// Plants a flower.
    public func plant(_ flower: Flower) async throws {
        _ = try await session.request("\(address)/flowers", method: .post, parameters: flower, encoder: .json)
            .validate().serializingData(emptyResponseCodes: [201]).value
    }
}
