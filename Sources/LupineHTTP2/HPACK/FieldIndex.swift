// SPDX-License-Identifier: MIT

/// Hashes of a field's name, and of its name and value.
///
/// Two fields may share a hash: whoever finds an entry by it compares the octets, and takes a difference for a miss.
struct FieldHash: Hashable, Sendable {
    let name: UInt64
    let field: UInt64

    /// The hashes of a field whose name has that hash.
    init(name: UInt64, value: Span<UInt8>) {
        self.name = name
        field = Self.hash(value, from: name)
    }

    init(_ entry: TableEntry) {
        let octets = entry.octets.span
        self.init(name: Self.ofName(octets.extracting(entry.name)), value: octets.extracting(entry.value))
    }

    static func ofName(_ name: Span<UInt8>) -> UInt64 { hash(name, from: 0) }

    @inline(__always)
    private static func hash(_ bytes: Span<UInt8>, from start: UInt64) -> UInt64 {
        // The length tells strings apart whose octets read as the same words.
        var hash = mixed(start ^ UInt64(bytes.count))
        guard bytes.count >= 8 else { return mixed(hash ^ bytes.shortWord()) }
        var place = 0
        while place < bytes.count &- 8 {
            hash = mixed(hash ^ bytes.word(at: place))
            place &+= 8
        }
        return mixed(hash ^ bytes.word(at: bytes.count &- 8))
    }

    /// Spreads each bit over all: both halves of the product with an odd number.
    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

/// Where an encoder finds the entries of a table by what they hold: the number that was put in last for each hash.
struct FieldIndex: Sendable {
    private var fields = HashedNumbers()
    private var names = HashedNumbers()

    func entry(withField hash: FieldHash) -> Int? { fields[hash.field] }
    func entry(withName hash: UInt64) -> Int? { names[hash] }

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
