// SPDX-License-Identifier: MIT

/// The hash of a field's name, and the hash of its name and value.
///
/// Two fields may have the same hash: the caller compares the octets of the entry that it finds, and treats a difference as a
/// miss.
struct FieldHash: Hashable, Sendable {
    let name: UInt64
    let field: UInt64

    /// Creates the hashes of a field from the hash of its name.
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
        // The length distinguishes strings whose octets form the same words.
        var hash = mixed(start ^ UInt64(bytes.count))
        guard bytes.count >= 8 else { return mixed(hash ^ bytes.shortWord()) }
        var position = 0
        while position < bytes.count &- 8 {
            hash = mixed(hash ^ bytes.word(at: position))
            position &+= 8
        }
        return mixed(hash ^ bytes.word(at: bytes.count &- 8))
    }

    /// Spreads each bit over all bits: multiplies by an odd constant, and XORs the two halves of the product.
    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

/// An encoder's index of a table by field and by name. For each hash it holds the number inserted last.
struct FieldIndex: Sendable {
    private var fields = HashedNumbers()
    private var names = HashedNumbers()

    /// Returns the number of the entry that was inserted last with the hash of a name and value.
    func entry(withField hash: FieldHash) -> Int? { fields[hash.field] }
    /// Returns the number of the entry that was inserted last with the hash of a name.
    func entry(withName hash: UInt64) -> Int? { names[hash] }

    mutating func insert(_ hash: FieldHash, _ number: Int) {
        fields.set(hash.field, number)
        names.set(hash.name, number)
    }

    /// Removes an entry, unless a later one with the same hash has replaced it.
    mutating func remove(_ hash: FieldHash, _ number: Int) {
        if fields[hash.field] == number { fields.remove(hash.field) }
        if names[hash.name] == number { names.remove(hash.name) }
    }
}
