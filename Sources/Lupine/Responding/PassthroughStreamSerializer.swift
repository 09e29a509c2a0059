// SPDX-License-Identifier: MIT

public import Foundation

/// Gives each piece of a stream as it came.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// A serializer of that kind.
    public init() {}

    /// `data`.
    public func serialize(_ data: Data) throws -> Data { data }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Gives each piece as it came.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}
