// SPDX-License-Identifier: MIT

public import Foundation
package import LupineHTTP

/// A server's response: status and header fields (RFC 9110 §15).
///
/// Immutable; may be used on any thread. A loaded response stores its header lines as received. Only `allHeaderFields` makes
/// their names canonical and joins lines of the same name.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// The header fields.
    private enum Header: Hashable, Sendable {
        /// The lines as received.
        case lines(Fields)
        /// The values by canonical name, for a response that a program has created or that was decoded from an archive.
        case dictionary([String: String])
    }

    private let status: Int
    private let header: Header
    /// Version and reason phrase of the status line; nil for a response that was not received.
    private let statusLine: StatusLine?
    /// The file name in `Content-Disposition`, unchanged; nil if there is none.
    private let proposedFilename: String?

    private struct StatusLine: Sendable {
        let version: HTTPVersion
        let reason: String
    }

    /// Creates a response with these values. Never returns nil; the initializer is failable only because Apple's is.
    ///
    /// - Parameters:
    ///   - url: The URL that the response is from.
    ///   - statusCode: The status.
    ///   - httpVersion: Ignored.
    ///   - headerFields: The header fields by name; type, encoding and length of the content are taken from them.
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
        var fields = JoinedFields()
        for (name, value) in (headerFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            fields.add(value, under: Self.canonicalName(name))
        }
        let joined = fields.byName
        status = statusCode
        header = .dictionary(joined)
        statusLine = nil
        let fieldValue = { (name: String) in joined[Self.canonicalName(name)] }
        proposedFilename = fieldValue("Content-Disposition").flatMap(SuggestedFilename.proposed)
        super.init(
            Self.contents(
                url: url, type: fieldValue("Content-Type"),
                length: fieldValue("Content-Length").flatMap { Self.length($0.utf8.span) } ?? -1))
    }

    /// Creates the response of a load.
    ///
    /// - Parameters:
    ///   - url: The URL that the response is from; user and password are removed.
    ///   - head: Status and header fields.
    ///   - isDecoded: Whether the content will be decoded, so that its length is not that in the header.
    package init(url: URL, head: ResponseHead, isDecoded: Bool) {
        let fields = head.fields
        status = Int(head.status.code)
        header = .lines(fields)
        statusLine = StatusLine(version: head.version, reason: head.reason)
        proposedFilename = fields[.contentDisposition].flatMap(SuggestedFilename.proposed)
        // `Content-Length` is the length before decoding. With `Transfer-Encoding` it is ignored (RFC 9112 §6.3).
        var length: Int64?
        if !isDecoded, !fields.contains(.transferEncoding) {
            // `?? nil` flattens the double optional. The outer nil means that there is no such field; the inner nil, that its
            // value is no valid number.
            length = fields.withFirstValue(of: .contentLength, Self.length) ?? nil
        }
        super.init(
            Self.contents(url: url.withoutUserInfo, type: fields[.contentType], length: length ?? -1))
    }

    /// The response itself. For a program's subclass, an `HTTPURLResponse` with the values that the accessors of the subclass
    /// return at this time.
    var withoutSubclass: HTTPURLResponse {
        type(of: self) == HTTPURLResponse.self ? self : HTTPURLResponse(copying: self)
    }

    /// The head as received, but without the reason phrase. It has no fields if the response was not received.
    var receivedHead: ResponseHead {
        ResponseHead(
            version: statusLine?.version ?? .http11, status: Status(status), fields: fields ?? Fields())
    }

    /// Creates a copy of a program's subclass, by calling its accessors.
    private init(copying other: HTTPURLResponse) {
        var joined = JoinedFields()
        let fields = other.allHeaderFields.map { (String(describing: $0.key), String(describing: $0.value)) }
        for (name, value) in fields.sorted(by: { $0.0 < $1.0 }) {
            joined.add(value, under: Self.canonicalName(name))
        }
        status = other.statusCode
        header = .dictionary(joined.byName)
        statusLine = nil
        proposedFilename = joined.byName["Content-Disposition"].flatMap(SuggestedFilename.proposed)
        super.init(
            Contents(
                url: other.url, mimeType: other.mimeType, expectedContentLength: other.expectedContentLength,
                textEncodingName: other.textEncodingName))
    }

    /// Decodes an archived response; returns nil if the archive contains something else.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, coder.containsValue(forKey: "statusCode") else { return nil }
        let stored = coder.decodeObject(of: NSData.self, forKey: "headerFields")
        let code = coder.decodeInteger(forKey: "statusCode")
        guard let fields = stored.flatMap({ Self.fields(Array($0 as Data)) }), Self.isPossible(code) else {
            return nil
        }
        status = code
        header = .dictionary(fields)
        statusLine = nil
        proposedFilename = fields["Content-Disposition"].flatMap(SuggestedFilename.proposed)
        super.init(coder: coder)
    }

    /// Archives all values; the header fields as in `allHeaderFields`, without their order and spelling.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(status, forKey: "statusCode")
        var fields = OctetWriter()
        let dictionary = dictionary
        fields.write(UInt32(truncatingIfNeeded: dictionary.count))
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            fields.write(name)
            fields.write(value)
        }
        coder.encode(Data(fields.octets) as NSData, forKey: "headerFields")
    }

    /// Decodes archived fields. Foundation's decoder for dictionaries is not used, because it reads out of bounds if the numbers
    /// of names and values in the archive differ.
    private static func fields(_ octets: [UInt8]) -> [String: String]? {
        var reader = OctetReader(octets, in: 0..<octets.count)
        do {
            var fields: [String: String] = [:]
            for _ in 0..<(try reader.number()) {
                let name = try reader.text()
                fields[name] = try reader.text()
            }
            return reader.isAtEnd ? fields : nil
        } catch { return nil }
    }

    /// The status code.
    open var statusCode: Int { assertingNoLock(status) }

    /// The header fields by canonical name, as strings; lines of the same name are joined by a comma and a space.
    open var allHeaderFields: [AnyHashable: Any] {
        assertingNoLock(
            Dictionary(uniqueKeysWithValues: dictionary.map { (AnyHashable($0.key), $0.value as Any) }))
    }

    /// The header fields as received; nil for a response that was not received.
    package var fields: Fields? {
        if case .lines(let fields) = header { return fields }
        return nil
    }

    /// The head as received: HTTP version, reason phrase, and header lines in their order. Apple's class has no properties for
    /// these. A response that was not received has HTTP/1.1, the standard reason phrase, and fields sorted by name.
    public var lupine: Wire {
        let lines: [(name: String, value: String)] =
            switch header {
            case .lines(let fields):
                (0..<fields.count).map { (fields.name(at: $0), fields.value(at: $0)) }
            case .dictionary(let fields): fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            }
        return Wire(
            version: "\(statusLine?.version ?? .http11)",
            reason: statusLine?.reason ?? Self.standardReason(of: status), fields: lines)
    }

    /// Returns the value of a header field, whose name is compared without case. Lines of the same name are joined by a comma and
    /// a space.
    open func value(forHTTPHeaderField field: String) -> String? {
        assertNoLockIsHeld()
        switch header {
        // No received field has an invalid name.
        case .lines(let fields): return (try? FieldName(field)).flatMap { Self.value(of: $0, in: fields) }
        case .dictionary(let fields):
            return fields[Self.canonicalName(field)]
                ?? fields.first { HeaderList.isSame($0.key, field) }?.value
        }
    }

    /// Returns the value of a header field, as `value(forHTTPHeaderField:)` does, but without parsing the name. Calls that method
    /// if the response is of a program's subclass, which may override it.
    func value(of name: FieldName) -> String? {
        guard case .lines(let fields) = header, type(of: self) == HTTPURLResponse.self else {
            return value(forHTTPHeaderField: name.description)
        }
        return Self.value(of: name, in: fields)
    }

    /// Whether `value(of:)` has a value for this name.
    func hasField(_ name: FieldName) -> Bool {
        guard case .lines(let fields) = header, type(of: self) == HTTPURLResponse.self else {
            return value(of: name) != nil
        }
        return fields.contains(name)
    }

    /// Returns the value of a header field; joins lines of the same name.
    private static func value(of name: FieldName, in fields: Fields) -> String? {
        guard let first = fields.firstIndex(of: name) else { return nil }
        if fields.firstIndex(of: name, from: first + 1) == nil { return fields.value(at: first) }
        return fields.values(of: name).joined(separator: ", ")
    }

    /// The name that `Content-Disposition` proposes, otherwise the last component of the URL's path, otherwise `Unknown`.
    open override var suggestedFilename: String? {
        proposedFilename.map(SuggestedFilename.sanitised) ?? super.suggestedFilename
    }

    /// Returns whether a server can send this status, which has three digits. A program can create a response with any number.
    static func isPossible(_ status: Int) -> Bool { (100...999).contains(status) }

    /// Returns the reason phrase that the RFCs define for a status; empty if they define none.
    private static func standardReason(of status: Int) -> String {
        isPossible(status) ? Status(status).standardReason : ""
    }

    /// Returns a short description of a status code; never empty.
    open class func localizedString(forStatusCode statusCode: Int) -> String {
        if statusCode == 200 { return "no error" }
        let reason = standardReason(of: statusCode)
        if !reason.isEmpty { return reason.lowercased() }
        switch statusCode {
        case 100...199: return "informational"
        case 200...299: return "success"
        case 300...399: return "redirected"
        case 400...499: return "client error"
        case 500...599: return "server error"
        default: return "unknown status"
        }
    }

    /// Whether the other object is a response with the same values, status and header fields.
    open override func isEqual(_ object: Any?) -> Bool {
        guard super.isEqual(object), let other = object as? HTTPURLResponse else { return false }
        return status == other.status && dictionary == other.dictionary
    }

    /// A hash that is equal for equal responses. It includes the status, but not the header fields.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(contents)
        hasher.combine(status)
        return hasher.finalize()
    }

    /// Contains the URL, without its query, and the status.
    open override var description: String {
        "<\(type(of: self)) \(Self.redacted(url)), status \(status)>"
    }

    /// The header fields by canonical name, with lines of the same name joined.
    private var dictionary: [String: String] {
        switch header {
        case .dictionary(let fields): return fields
        case .lines(let lines):
            var fields = JoinedFields()
            for index in 0..<lines.count {
                fields.add(lines.value(at: index), under: Self.canonicalName(lines.name(at: index)))
            }
            return fields.byName
        }
    }

    // MARK: reading header fields

    /// Collects header fields by name, and joins the values of fields with the same name. Names are compared without case; the
    /// first spelling of a name becomes the key.
    private struct JoinedFields {
        private(set) var byName: [String: String] = [:]
        /// The keys in `byName`, by the name in lowercase.
        private var keys: [String: String] = [:]

        /// Adds a value under a name; appends it if there is a value already.
        mutating func add(_ value: String, under name: String) {
            let lowercased = name.lowercased()
            let key = keys[lowercased, default: name]
            keys[lowercased] = key
            // Appends in place instead of copying the value, because a server may send a thousand lines of one name.
            if byName[key] == nil { byName[key] = value } else { byName[key]?.append(", " + value) }
        }
    }

    /// Returns the name as a key of `allHeaderFields`: capitalized word by word, except for `WWW-Authenticate` and names that
    /// begin with `x-` (U-2.1).
    private static func canonicalName(_ name: String) -> String {
        if name.hasPrefix("x-") || name.hasPrefix("X-") { return name }
        return HeaderList.isSame(name, "WWW-Authenticate") ? "WWW-Authenticate" : HeaderList.canonical(name)
    }

    /// Parses a decimal number with optional blanks around it. Returns nil for any other text and for a number that is too large.
    private static func length(_ value: Span<UInt8>) -> Int64? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        func isBlank(_ octet: UInt8) -> Bool { octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
        var (start, end) = (0, value.count)
        while start < end, isBlank(value[start]) { start += 1 }
        while start < end, isBlank(value[end - 1]) { end -= 1 }
        guard start < end else { return nil }
        var length: Int64 = 0
        for index in start..<end {
            guard digits ~= value[index] else { return nil }
            let (tens, overflow) = length.multipliedReportingOverflow(by: 10)
            let (sum, carry) = tens.addingReportingOverflow(Int64(value[index] - digits.lowerBound))
            if overflow || carry { return nil }
            length = sum
        }
        return length
    }

    /// Returns the contents of a response.
    ///
    /// - Parameters:
    ///   - url: The URL that the response is from.
    ///   - type: The value of `Content-Type`, from which the media type and its parameter `charset` are read.
    ///   - length: The length of the content in bytes; -1 if it is not known.
    private static func contents(url: URL, type: String?, length: Int64) -> Contents {
        let type = type ?? ""
        let fullRange = 0..<type.utf8.count
        let withoutParameters = ListSyntax.valueWithoutParameters(of: fullRange, in: type.utf8.span)
        let mimeType =
            withoutParameters == fullRange
            ? type : String(decoding: Array(type.utf8)[withoutParameters], as: UTF8.self)
        // If nothing follows the media type, there are no parameters to search.
        let charset =
            withoutParameters.upperBound == fullRange.upperBound
            ? nil : ListSyntax.parameter("charset", of: fullRange, in: type.utf8.span)
        return Contents(
            url: url, mimeType: mimeType.isEmpty ? nil : lowercased(mimeType), expectedContentLength: length,
            textEncodingName: charset == "" ? nil : charset.map(lowercased))
    }

    /// Returns the text in lowercase. Most texts are lowercase already, and are returned without a copy.
    private static func lowercased(_ text: String) -> String {
        // The loop looks for an octet that might have to change. 0x61...0x7A are the lowercase letters, 0x2B...0x3B the digits
        // and the characters `+ , - . / : ;`, which media types contain. These never change.
        let octets = text.utf8.span
        for index in octets.indices where !(0x61...0x7A ~= octets[index] || 0x2B...0x3B ~= octets[index]) {
            return text.lowercased()
        }
        return text
    }
}
