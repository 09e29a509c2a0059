// SPDX-License-Identifier: MIT

public import Foundation

/// Returns each piece of a stream as data.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Creates a serializer.
    public init() {}

    /// Returns `data`.
    public func serialize(_ data: Data) throws -> Data { data }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// A serializer that returns each piece as data.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}
