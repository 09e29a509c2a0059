// SPDX-License-Identifier: MIT

public import Foundation

/// What decodes values from data: a `JSONDecoder`, a `PropertyListDecoder`, or one of the program's.
public protocol DataDecoder: Sendable {
    /// The value that the data holds. What it throws fails the response.
    func decode<D: Decodable>(_ type: D.Type, from data: Data) throws -> D
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
