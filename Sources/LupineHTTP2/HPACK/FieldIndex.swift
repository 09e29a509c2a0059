// SPDX-License-Identifier: MIT

/// Hashes of a field's name, and of its name and value (FNV-1a).
///
/// Two fields may share a hash: whoever finds an entry by it compares the octets, and takes a difference for a miss.
struct FieldHash: Hashable, Sendable {
    let name: UInt64
    let field: UInt64

    init(name: Span<UInt8>, value: Span<UInt8>) {
        self.name = Self.hash(name, from: 0xCBF2_9CE4_8422_2325)
        // An octet that no legal name or value holds stands between the two.
        field = Self.hash(value, from: self.name &* Self.prime)
    }

    init(_ entry: TableEntry) {
        let octets = entry.octets.span
        self.init(name: octets.extracting(entry.name), value: octets.extracting(entry.value))
    }

    private static let prime: UInt64 = 0x0000_0100_0000_01B3

    private static func hash(_ bytes: Span<UInt8>, from start: UInt64) -> UInt64 {
        var hash = start
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* prime }
        return hash
    }
}

/// Where an encoder finds the entries of a table by what they hold: the number that was put in last for each hash.
struct FieldIndex: Sendable {
    private var fields: [UInt64: Int] = [:]
    private var names: [UInt64: Int] = [:]

    func entry(withField hash: FieldHash) -> Int? { fields[hash.field] }
    func entry(withName hash: FieldHash) -> Int? { names[hash.name] }

    mutating func insert(_ hash: FieldHash, _ number: Int) {
        fields[hash.field] = number
        names[hash.name] = number
    }

    /// Forgets an entry, unless a later one has taken its place.
    mutating func remove(_ hash: FieldHash, _ number: Int) {
        if fields[hash.field] == number { fields[hash.field] = nil }
        if names[hash.name] == number { names[hash.name] = nil }
    }
}
