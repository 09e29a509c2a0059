// SPDX-License-Identifier: MIT

/// Wraps a value or a type. The property `af` returns the wrapper. The library declares its extensions of the value or type on
/// the wrapper, so that they do not clash with other extensions.
public struct AlamofireExtension<ExtendedType> {
    /// The wrapped value or type.
    public internal(set) var type: ExtendedType

    /// Wraps `type`.
    public init(_ type: ExtendedType) { self.type = type }
}

extension AlamofireExtension: Sendable where ExtendedType: Sendable {}

/// A type with extensions under `af`.
public protocol AlamofireExtended {
    /// The extended type.
    associatedtype ExtendedType

    /// The extensions of the type.
    static var af: AlamofireExtension<ExtendedType>.Type { get set }
    /// The extensions of the value.
    var af: AlamofireExtension<ExtendedType> { get set }
}

extension AlamofireExtended {
    /// The extensions of the type. The setter does nothing; it exists so that mutating extensions can be called.
    public static var af: AlamofireExtension<Self>.Type {
        get { AlamofireExtension<Self>.self }
        set {}
    }

    /// The extensions of the value, in a new wrapper each time. The setter does nothing; it exists so that mutating extensions
    /// can be called.
    public var af: AlamofireExtension<Self> {
        get { AlamofireExtension(self) }
        set {}
    }
}
