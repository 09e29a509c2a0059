// SPDX-License-Identifier: MIT

import Garden
import Lupine
import LupineTesting
import XCTest

final class GardenXCTests: XCTestCase {
    func testPlanting() async throws {
        let stubs = Stubs()
        stubs.expect(.post("https://garden.test/flowers"), .status(201))
        let garden = Garden(session: stubs.session(), address: "https://garden.test")
        try await garden.plant(.init(name: "lupin", petals: 5))
        XCTAssertNoThrow(try stubs.verify())
    }

    func testWhatIsNotExpected() async throws {
        let stubs = Stubs()
        stubs.expect(.get("/flowers/lupin"), .status(404))
        let garden = Garden(session: stubs.session(), address: "https://garden.test")
        do {
            _ = try await garden.flower("rose")
            XCTFail("there is no stub for a rose")
        } catch {
            XCTAssertTrue("\(error)".contains("no stub for GET https://garden.test/flowers/rose"), "\(error)")
        }
        XCTAssertThrowsError(try stubs.verify())
    }

    func testAnHourOfPatience() async throws {
        let clock = ManualClock()
        let stubs = Stubs(clock: clock)
        stubs.expect(.get("/flowers/lupin"), .status(503))
        stubs.expect(.get("/flowers/lupin"), .json(Garden.Flower(name: "lupin", petals: 5)))
        let session = stubs.session(interceptor: RetryPolicy(exponentialBackoffScale: 3_600))
        let garden = Garden(session: session, address: "https://garden.test")
        async let flower = garden.flower("lupin")
        let waited = try await clock.advanceToNext()
        XCTAssertEqual(waited, .seconds(3_600))
        let petals = try await flower.petals
        XCTAssertEqual(petals, 5)
        try stubs.verify()
    }

    func testAServer() async throws {
        let origin = try await TestOrigin.start()
        addTeardownBlock { await origin.shutdown() }
        origin.route("GET", "/flowers/lupin", .json(Garden.Flower(name: "lupin", petals: 5)))
        let flower = try await Garden(address: "\(origin.url)").flower("lupin")
        XCTAssertEqual(flower.petals, 5)
    }
}
