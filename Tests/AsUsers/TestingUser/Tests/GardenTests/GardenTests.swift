// SPDX-License-Identifier: MIT

import Garden
import Lupine
import LupineTesting
import Testing

@Suite struct GardenTests {
    @Test func aFlowerIsRead() async throws {
        try await withOrigin { origin in
            origin.route("GET", "/flowers/{name}") { request in
                .json(["name": request.parameters["name"] ?? "", "petals": "5"], status: 500)
            }
            origin.route("GET", "/flowers/lupin", .json(Garden.Flower(name: "lupin", petals: 5)))
            let garden = Garden(address: "\(origin.url)")
            let flower = try await garden.flower("lupin")
            #expect(flower.petals == 5)
            await #expect(throws: AFError.self) { try await garden.flower("rose") }
            #expect(origin.requests.map(\.path) == ["/flowers/lupin", "/flowers/rose"])
        }
    }

    @Test func overTLS() async throws {
        try await withOrigin(tls: .authority) { origin in
            origin.route("GET", "/flowers/lupin", .json(Garden.Flower(name: "lupin", petals: 5)))
            let configuration = URLSessionConfiguration.af.ephemeral
            if let authority = origin.authority { configuration.lupine.tls.roots = authority.roots }
            let garden = Garden(session: Session(configuration: configuration), address: "\(origin.url)")
            let flower = try await garden.flower("lupin")
            #expect(flower.name == "lupin")
        }
    }

    @Test func aFlowerIsPlanted() async throws {
        let stubs = Stubs()
        let flower = Garden.Flower(name: "lupin", petals: 5)
        stubs.expect(.post("/flowers").json(flower), .status(201))
        try await Garden(session: stubs.session(), address: "https://garden.test").plant(flower)
        try stubs.verify()
    }

    @Test func aFlowerStaysFreshForAMinute() async throws {
        let clock = ManualClock()
        try await withOrigin(clock: clock) { origin in
            let answer = TestResponse.json(Garden.Flower(name: "lupin", petals: 5))
            origin.route("GET", "/flowers/lupin", answer.header("Cache-Control", "max-age=60"))
            let garden = Garden(session: origin.session(), address: "\(origin.url)")
            for (seconds, count) in [(0, 1), (59, 1), (2, 2)] {
                clock.advance(by: .seconds(seconds))
                let flower = try await garden.flower("lupin")
                #expect(flower.petals == 5)
                #expect(origin.requests.count == count)
            }
        }
    }
}
