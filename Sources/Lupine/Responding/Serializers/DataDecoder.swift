// SPDX-License-Identifier: MIT

public import Foundation

/// A decoder of values from data: `JSONDecoder`, `PropertyListDecoder`, or a custom type.
public protocol DataDecoder: Sendable {
    /// Returns the value decoded from the data. A thrown error fails the response.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
