// SPDX-License-Identifier: MIT

/// The hash of a field's name, and the hash of its name and value.
///
/// Two fields may have the same hash. A caller that finds an entry by its hash therefore compares the octets, too.
struct FieldHash: Hashable, Sendable {
    /// The hash of the name alone.
    let name: UInt64
    /// The hash of the name and the value.
    let field: UInt64

    /// Creates the hashes of a field from the hash of its name.
    init(name: UInt64, value: Span<UInt8>) {
        self.name = name
        field = Self.hash(value, from: name)
    }

    /// Creates the hashes of the field in a table entry.
    init(_ entry: TableEntry) {
        let octets = entry.octets.span
        self.init(
            name: Self.hash(ofName: octets.extracting(entry.nameRange)),
            value: octets.extracting(entry.valueRange))
    }

    /// Returns the hash of a name, from which `init(name:value:)` continues.
    static func hash(ofName name: Span<UInt8>) -> UInt64 { hash(name, from: 0) }

    /// Returns the hash of `bytes`, which are read as words of eight octets. `seed` is the hash of what precedes them.
    @inline(__always)
    private static func hash(_ bytes: Span<UInt8>, from seed: UInt64) -> UInt64 {
        // The length distinguishes strings whose octets form the same words.
        var hash = mixed(seed ^ UInt64(bytes.count))
        guard bytes.count >= 8 else { return mixed(hash ^ bytes.shortWord()) }
        var position = 0
        while position < bytes.count &- 8 {
            hash = mixed(hash ^ bytes.word(at: position))
            position &+= 8
        }
        // The last word may overlap the one before it.
        return mixed(hash ^ bytes.word(at: bytes.count &- 8))
    }

    /// Makes each bit of the result depend on all bits of `word`: XORs it with one constant, multiplies it by another one, and
    /// XORs the two halves of the product. The constants are odd numbers whose bits follow no pattern.
    @inline(__always)
    private static func mixed(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

/// Finds the entries of a table by the hash of a field, or of a name alone, for an encoder.
///
/// The caller chooses the numbers of the entries. If several entries have the same hash, the one that was inserted last is found.
struct FieldIndex: Sendable {
    private var numbersByField = NumbersByHash()
    private var numbersByName = NumbersByHash()

    /// Returns the number of the entry with the hash of a name and value; nil if there is none.
    func number(ofField hash: FieldHash) -> Int? { numbersByField[hash.field] }
    /// Returns the number of the entry with the hash of a name; nil if there is none.
    func number(ofName hash: UInt64) -> Int? { numbersByName[hash] }

    /// Adds an entry, which replaces an earlier one with the same hash.
    mutating func insert(_ hash: FieldHash, number: Int) {
        numbersByField.set(number, for: hash.field)
        numbersByName.set(number, for: hash.name)
    }

    /// Removes an entry, unless a later one with the same hash has replaced it.
    mutating func remove(_ hash: FieldHash, number: Int) {
        if numbersByField[hash.field] == number { numbersByField.remove(hash.field) }
        if numbersByName[hash.name] == number { numbersByName.remove(hash.name) }
    }
}
