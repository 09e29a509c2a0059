// SPDX-License-Identifier: MIT

/// The list of key-value pairs in W3C Trace Context's `tracestate` (section 3.3), which the systems in a trace add.
///
/// The keys are unique. The member that was changed last is the first of the list. The list has at most 32 members and 512
/// octets. If it exceeds 512 octets, whole members are removed, as the specification says: first those of more than 128 octets,
/// then those at the end.
public struct TraceState: Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of members.
    public static let mostMembers = 32
    /// The maximum number of octets of the list, as it is stored and sent.
    public static let mostOctets = 512
    /// The maximum number of octets of a text that is parsed.
    private static let maximumTextLength = 16 << 10
    /// Members with more octets than this are removed first.
    private static let longMemberThreshold = 128

    /// A key-value pair of the list.
    private struct Member: Hashable {
        let key: String
        let value: String
        /// The number of octets of `key=value`.
        var octetCount: Int { key.utf8.count + 1 + value.utf8.count }
    }

    private var members: [Member] = []

    /// Creates an empty list.
    public init() {}

    /// Parses the value of `tracestate`.
    ///
    /// - Parameter text: The value; several fields of that name are joined by commas.
    /// - Throws: `TraceContextError`, if the text violates the grammar, has a duplicate key, or has more than 32 members or 16
    ///   KiB.
    public init(_ text: String) throws(TraceContextError) {
        guard text.utf8.count <= Self.maximumTextLength else { throw .tooLong(text.utf8.count) }
        var keys: Set<String> = []
        for element in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: true) {
            let element = Self.trimmed(element)
            if element.isEmpty { continue }
            guard members.count < Self.mostMembers else { throw .tooManyMembers }
            guard let equalsSign = element.firstIndex(of: UInt8(ascii: "=")) else {
                throw .malformed(offset: text.utf8.distance(from: text.startIndex, to: element.startIndex))
            }
            // The conversions return nil only for invalid UTF-8. Text that is cut at ASCII characters remains valid.
            let member = try Self.makeMember(
                String(element[..<equalsSign]) ?? "",
                String(element[element.index(after: equalsSign)...]) ?? "")
            guard keys.insert(member.key).inserted else { throw .duplicateKey(member.key) }
            members.append(member)
        }
        removeExcessMembers()
    }

    /// Whether the list is empty.
    public var isEmpty: Bool { members.isEmpty }

    /// The keys, in order.
    public var keys: [String] { members.map(\.key) }

    /// The value of a key; nil for none.
    public subscript(key: String) -> String? { members.first { $0.key == key }?.value }

    /// Inserts a member at the front and removes an existing one with the same key. If the list exceeds a limit, other
    /// members are removed.
    ///
    /// - Parameters:
    ///   - value: 1 to 256 printable ASCII characters except `,` and `=`, not ending with a space.
    ///   - key: Lower-case letters, digits, `_`, `-`, `*` and `/`, beginning with a letter; or a tenant and a system,
    ///     separated by `@`.
    /// - Throws: `TraceContextError.invalidKey` and `.invalidValue`.
    public mutating func set(_ value: String, for key: String) throws(TraceContextError) {
        let member = try Self.makeMember(key, value)
        members.removeAll { $0.key == key }
        // If the list is full, the last member is removed.
        members = [member] + members.prefix(Self.mostMembers - 1)
        removeExcessMembers(keepingFirst: true)
    }

    /// Removes the member with the key, if there is one.
    public mutating func remove(_ key: String) { members.removeAll { $0.key == key } }

    /// The value of `tracestate`.
    public var description: String { members.map { "\($0.key)=\($0.value)" }.joined(separator: ",") }

    // MARK: limits

    /// The number of octets of the members and of the commas between them.
    private var octetCount: Int {
        let commas = max(0, members.count - 1)
        return members.reduce(commas) { $0 + $1.octetCount }
    }

    /// Removes members until the list has at most `mostOctets` octets: first those of more than `longMemberThreshold` octets,
    /// then those at the end. If `keepingFirst` is true, the first member is not removed.
    private mutating func removeExcessMembers(keepingFirst: Bool = false) {
        let protectedCount = keepingFirst ? 1 : 0
        while octetCount > Self.mostOctets,
            let index = members.indices.dropFirst(protectedCount)
                .last(where: { members[$0].octetCount > Self.longMemberThreshold })
        {
            members.remove(at: index)
        }
        while octetCount > Self.mostOctets, members.count > protectedCount { members.removeLast() }
    }

    // MARK: grammar

    /// Returns the text without spaces and tabs at both ends.
    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isBlank(_ octet: UInt8) -> Bool { octet == UInt8(ascii: " ") || octet == UInt8(ascii: "\t") }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }

    /// Returns a member. Throws if the key or the value violates the grammar.
    private static func makeMember(_ key: String, _ value: String) throws(TraceContextError) -> Member {
        guard isKey(key) else { throw .invalidKey }
        guard isValue(value) else { throw .invalidValue }
        return Member(key: key, value: value)
    }

    /// Whether the text is a key (section 3.3): a name of up to 256 octets, or a tenant of up to 241 and a system of up to
    /// 14 octets, separated by `@`.
    private static func isKey(_ key: String) -> Bool {
        let parts = key.utf8.split(
            separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 1 { return isName(parts[0], upTo: 256, mayBeginWithDigit: false) }
        return isName(parts[0], upTo: 241, mayBeginWithDigit: true)
            && isName(parts[1], upTo: 14, mayBeginWithDigit: false)
    }

    /// Whether the text has at most `limit` octets and consists of lower-case letters, digits and `_-*/`. It must begin with a
    /// letter; if `mayBeginWithDigit` is true, it may also begin with a digit.
    private static func isName(
        _ name: Substring.UTF8View, upTo limit: Int, mayBeginWithDigit: Bool
    ) -> Bool {
        func isLetter(_ octet: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet) }
        func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }
        guard let first = name.first, name.count <= limit,
            isLetter(first) || mayBeginWithDigit && isDigit(first)
        else { return false }
        return name.allSatisfy { isLetter($0) || isDigit($0) || "_-*/".utf8.contains($0) }
    }

    /// Whether the text is 1 to 256 printable ASCII characters (0x20 to 0x7E) except comma (0x2C) and equals sign (0x3D). It must
    /// not end with a space (0x20).
    private static func isValue(_ value: String) -> Bool {
        guard (1...256).contains(value.utf8.count), value.utf8.last != 0x20 else { return false }
        return value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x2C && $0 != 0x3D }
    }
}
