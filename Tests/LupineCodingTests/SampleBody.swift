// SPDX-License-Identifier: MIT

/// Bodies to encode and decode. They are the same in each run.
enum SampleBody {
    /// Returns a list of records, as an API would send it; about 60 bytes a row.
    static func json(rows: Int) -> [UInt8] {
        var text = "["
        for row in 0..<rows {
            text += "{\"id\":\(row * 7919 % 100003),\"name\":\"item \(row)\",\"active\":\(row % 3 == 0),"
            text += "\"price\":\(row * 37 % 1000).\(row % 10)},"
        }
        return Array((text + "null]").utf8)
    }

    /// Returns incompressible bytes.
    static func noise(_ count: Int) -> [UInt8] {
        var seed: UInt64 = 42
        return (0..<count).map { _ in
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: seed >> 56)
        }
    }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
