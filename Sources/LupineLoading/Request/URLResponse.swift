// SPDX-License-Identifier: MIT

public import Foundation

/// What was answered, apart from the content: where it came from, what it is, how long it will be.
///
/// Immutable, and any thread's. Loads over HTTP give the subclass `HTTPURLResponse`; `file:`, `data:` and a program's own
/// protocols give this one. It can be subclassed, so the compiler cannot see that it is `Sendable`; all it stores is one
/// constant of a type that is.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// What a response holds.
    struct Contents: Hashable, Sendable {
        var url: URL?
        var mimeType: String?
        var expectedContentLength: Int64
        var textEncodingName: String?
    }

    let contents: Contents

    /// A response of these values, unchanged.
    ///
    /// - Parameters:
    ///   - url: Where it came from.
    ///   - mimeType: The type of the content.
    ///   - length: How many bytes of content there will be; -1 when that is not known.
    ///   - name: The encoding of text content, as registered with IANA.
    public init(
        url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?
    ) {
        contents = Contents(
            url: url, mimeType: mimeType, expectedContentLength: Int64(length), textEncodingName: name)
    }

    init(_ contents: Contents) { self.contents = contents }

    /// Reads a response that was archived; nil when the archive holds something else.
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

    /// Whether archives are checked as they are read: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Whether it is of one of the library's classes, so that what it says runs no code of the program's.
    final var isOfTheLibrary: Bool {
        type(of: self) == URLResponse.self || type(of: self) == HTTPURLResponse.self
    }

    /// Where the content came from, after all redirects.
    open var url: URL? { asked(contents.url) }

    /// The type of the content in small letters, without parameters; nil when it was not said.
    open var mimeType: String? { asked(contents.mimeType) }

    /// How many bytes of content there will be; -1 when that is not known.
    open var expectedContentLength: Int64 { asked(contents.expectedContentLength) }

    /// The encoding of text content in small letters; nil when it was not said.
    open var textEncodingName: String? { asked(contents.textEncodingName) }

    /// A name for a file of the content: one component of a path, without control characters.
    open var suggestedFilename: String? { asked(SuggestedFilename.from(url: url, mimeType: mimeType)) }

    /// What a program's class may answer in place of this one: it is asked under no lock (O-6), and so is this one.
    @inline(__always) final func asked<Value>(_ value: @autoclosure () -> Value) -> Value {
        assertNoLockIsHeld()
        return value()
    }

    /// The response itself: it is immutable.
    open override func copy() -> Any { self }

    /// The response itself: it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other is a response of the same values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? URLResponse, type(of: other) == type(of: self) else { return false }
        return contents == other.contents
    }

    /// Goes with `isEqual(_:)`.
    open override var hash: Int { contents.hashValue }

    /// Where the content came from, without the query, and what it is.
    open override var description: String {
        "<\(type(of: self)) \(Self.shown(url)), \(mimeType ?? "type not known")>"
    }

    /// An address as descriptions show it: what may be secret is left out.
    static func shown(_ url: URL?) -> String {
        guard let url, var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
            return "url: nil"
        }
        if parts.query != nil { parts.query = "..." }
        (parts.user, parts.password, parts.fragment) = (nil, nil, nil)
        return parts.string ?? "url: nil"
    }
}
