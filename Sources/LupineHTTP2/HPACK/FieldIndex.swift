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

    /// Four hashes side by side, of every fourth octet each: none has to wait for the multiplication of the one before.
    private static func hash(_ bytes: Span<UInt8>, from start: UInt64) -> UInt64 {
        var (first, second, third, fourth) = (start, start &+ 1, start &+ 2, start &+ 3)
        var index = 0
        while bytes.count &- index >= 4 {
            first = (first ^ UInt64(bytes[index])) &* prime
            second = (second ^ UInt64(bytes[index &+ 1])) &* prime
            third = (third ^ UInt64(bytes[index &+ 2])) &* prime
            fourth = (fourth ^ UInt64(bytes[index &+ 3])) &* prime
            index &+= 4
        }
        while index < bytes.count {
            first = (first ^ UInt64(bytes[index])) &* prime
            index &+= 1
        }
        // Each takes the octets of all in another way, so that their order matters.
        let halves = (first &* prime ^ second, third &* prime ^ fourth)
        let hash = (halves.0 &* prime ^ halves.1) &* prime
        return hash ^ hash >> 32
    }
}

/// Where an encoder finds the entries of a table by what they hold: the number that was put in last for each hash.
struct FieldIndex: Sendable {
    private var fields = HashedNumbers()
    private var names = HashedNumbers()

    func entry(withField hash: FieldHash) -> Int? { fields[hash.field] }
    func entry(withName hash: FieldHash) -> Int? { names[hash.name] }

    mutating func insert(_ hash: FieldHash, _ number: Int) {
        fields.set(hash.field, number)
        names.set(hash.name, number)
    }

    /// Forgets an entry, unless a later one has taken its place.
    mutating func remove(_ hash: FieldHash, _ number: Int) {
        if fields[hash.field] == number { fields.remove(hash.field) }
        if names[hash.name] == number { names.remove(hash.name) }
    }
}
