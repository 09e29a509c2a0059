// SPDX-License-Identifier: MIT

public import Foundation

/// The metadata of a response: the URL that it is from, and the content's type, encoding and length.
///
/// Immutable; may be used on any thread. HTTP loads create the subclass `HTTPURLResponse`. Loads of `file:` and `data:` URLs
/// create this class, and a program's `URLProtocol` may create it, too. The class is open, so the compiler cannot verify that it
/// is `Sendable`. It is, because its only stored property is a constant of a `Sendable` type.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The contents of a response.
    struct Contents: Hashable, Sendable {
        var url: URL?
        var mimeType: String?
        var expectedContentLength: Int64
        var textEncodingName: String?
    }

    let contents: Contents

    /// Creates a response with these values, unchanged.
    ///
    /// - Parameters:
    ///   - url: The URL that the response is from.
    ///   - mimeType: The type of the content.
    ///   - length: The length of the content in bytes; -1 if it is not known.
    ///   - name: The encoding of text content, as an IANA charset name.
    public init(
        url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?
    ) {
        contents = Contents(
            url: url, mimeType: mimeType, expectedContentLength: Int64(length), textEncodingName: name)
    }

    /// Creates a response with these contents.
    init(_ contents: Contents) { self.contents = contents }

    /// Decodes an archived response; returns nil if the archive contains something else.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, let address = coder.decodeObject(of: NSData.self, forKey: "address")
        else { return nil }
        let octets = Array(address as Data)
        var reader = OctetReader(octets, in: 0..<octets.count)
        let url: URL?
        do { url = try reader.url() } catch { return nil }
        guard reader.isAtEnd else { return nil }
        contents = Contents(
            url: url,
            mimeType: coder.decodeObject(of: NSString.self, forKey: "mimeType") as String?,
            expectedContentLength: coder.decodeInt64(forKey: "expectedContentLength"),
            textEncodingName: coder.decodeObject(of: NSString.self, forKey: "textEncodingName") as String?)
    }

    /// Archives all values.
    open func encode(with coder: NSCoder) {
        var address = OctetWriter()
        address.write(contents.url)
        coder.encode(Data(address.octets) as NSData, forKey: "address")
        coder.encode(contents.mimeType.map { $0 as NSString }, forKey: "mimeType")
        coder.encode(contents.expectedContentLength, forKey: "expectedContentLength")
        coder.encode(contents.textEncodingName.map { $0 as NSString }, forKey: "textEncodingName")
    }

    /// Always true.
    open class var supportsSecureCoding: Bool { true }

    /// Whether the response is of one of the library's classes, not of a program's subclass. Accessors of a subclass are code of
    /// the program, which must not be called under a lock or on an event loop.
    final var isLibraryClass: Bool {
        type(of: self) == URLResponse.self || type(of: self) == HTTPURLResponse.self
    }

    /// The URL that the content is from, after all redirects.
    open var url: URL? { assertingNoLock(contents.url) }

    /// The media type of the content in lowercase, without parameters; nil if there is none.
    open var mimeType: String? { assertingNoLock(contents.mimeType) }

    /// The length of the content in bytes; -1 if it is not known.
    open var expectedContentLength: Int64 { assertingNoLock(contents.expectedContentLength) }

    /// The encoding of text content, as an IANA charset name in lowercase; nil if there is none.
    open var textEncodingName: String? { assertingNoLock(contents.textEncodingName) }

    /// A name for a file that contains the content: a single path component, without control characters.
    open var suggestedFilename: String? {
        assertingNoLock(SuggestedFilename.from(url: url, mimeType: mimeType))
    }

    /// Returns the value, after asserting that the calling thread holds no lock of the library (O-6). The accessors that a
    /// program's subclass may override call this, because an override is code of the program and could deadlock under a lock.
    @inline(__always) final func assertingNoLock<Value>(_ value: @autoclosure () -> Value) -> Value {
        assertNoLockIsHeld()
        return value()
    }

    /// Returns the response itself, because it is immutable.
    open override func copy() -> Any { self }

    /// Returns the response itself, because it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other object is a response of the same class with the same values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLResponse, type(of: other) == type(of: self) else { return false }
        return contents == other.contents
    }

    /// The hash of the values that `isEqual(_:)` compares.
    open override var hash: Int { contents.hashValue }

    /// Contains the URL, without its query, and the media type.
    open override var description: String {
        "<\(type(of: self)) \(Self.redacted(url)), \(mimeType ?? "type not known")>"
    }

    /// Returns the text of a URL for descriptions, without the components that may be secret: query, user, password and fragment.
    static func redacted(_ url: URL?) -> String {
        guard let url, var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return "url: nil"
        }
        if components.query != nil { components.query = "..." }
        (components.user, components.password, components.fragment) = (nil, nil, nil)
        return components.string ?? "url: nil"
    }
}
