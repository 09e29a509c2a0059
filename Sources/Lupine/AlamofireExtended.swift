// SPDX-License-Identifier: MIT

/// Wraps a value or a type, so that what the library adds to it stands under `af` and clashes with nothing.
public struct AlamofireExtension<ExtendedType> {
    /// What is extended.
    public internal(set) var type: ExtendedType

    /// Wraps `type`.
    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// What has extensions under `af`.
public protocol AlamofireExtended {
    /// The type that is extended.
    associatedtype ExtendedType

    /// The extensions of the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get set }
    /// The extensions of the value.
    var af: AlamofireExtension<ExtendedType> { get set }
}

extension AlamofireExtended {
    /// The extensions of the type. Setting does nothing: it is there for extensions that change what they stand on.
    public static var af: AlamofireExtension<Self>.Type {
        get { AlamofireExtension<Self>.self }
        set {}
    }

    /// The extensions of the value; a new wrapper each time. Setting does nothing.
    public var af: AlamofireExtension<Self> {
        get { AlamofireExtension(self) }
        set {}
    }
}
