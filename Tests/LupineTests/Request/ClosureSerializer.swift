// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// A serializer that calls a closure with the request's error.
struct ClosureSerializer: DataResponseSerializerProtocol {
    let make: @Sendable ((any Error)?) throws -> String

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String { try make(error) }
}
