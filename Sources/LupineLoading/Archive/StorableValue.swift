// SPDX-License-Identifier: MIT

internal import Foundation

/// A property-list value that archives and cache files can contain (U-12.3).
///
/// The type has its own format, so that no other parser receives damaged or forged data.
indirect enum StorableValue: Hashable, Sendable {
    case text(String)
    case data(Data)
    case date(Date)
    case flag(Bool)
    case integer(Int64)
    case double(Double)
    case array([StorableValue])
    case dictionary([String: StorableValue])

    /// The deepest nesting of arrays and dictionaries. Without this limit, forged data could overflow the stack.
    private static let maxDepth = 32

    /// The octet before a value, which tells its type. The raw values are part of the format.
    private enum TypeCode: UInt8 {
        case text = 0
        case data = 1
        case date = 2
        case flag = 3
        case integer = 4
        case double = 5
        case array = 6
        case dictionary = 7
    }

    /// Converts a value of the program; returns nil if a property list cannot contain it.
    init?(_ value: Any) { self.init(value, depth: 0) }

    /// Converts a value that is inside this many arrays and dictionaries.
    private init?(_ value: Any, depth: Int) {
        guard depth < Self.maxDepth else { return nil }
        // Checks the exact type, because a cast to `Bool` also succeeds for Foundation numbers.
        if type(of: value) == Bool.self, let value = value as? Bool {
            self = .flag(value)
        } else if let value = value as? any BinaryInteger {
            // Nil for a number that does not fit.
            guard let value = Int64(exactly: value) else { return nil }
            self = .integer(value)
        } else if let value = value as? any BinaryFloatingPoint {
            self = .double(Double(value))
        } else if let value = value as? NSNumber {
            self.init(number: value)
        } else if let value = value as? String {
            self = .text(value)
        } else if let value = value as? Data {
            self = .data(value)
        } else if let value = value as? Date {
            self = .date(value)
        } else if let value = value as? [Any] {
            let elements = value.compactMap { StorableValue($0, depth: depth + 1) }
            guard elements.count == value.count else { return nil }
            self = .array(elements)
        } else if let value = value as? [AnyHashable: Any] {
            var members: [String: StorableValue] = [:]
            for (key, element) in value {
                guard let key = key as? String, let element = StorableValue(element, depth: depth + 1) else {
                    return nil
                }
                members[key] = element
            }
            self = .dictionary(members)
        } else {
            return nil
        }
    }

    /// Converts a Foundation number to an integer if it has no fraction and fits; otherwise to a `Double`.
    private init(number: NSNumber) {
        let double = number.doubleValue
        // Doubles from 2^63 on do not fit into `Int64`.
        guard double.isFinite, double.magnitude < 0x1p63 else {
            self = .double(double)
            return
        }
        let integer = number.int64Value
        self = Double(integer) == double ? .integer(integer) : .double(double)
    }

    /// The value as a type of a property list, such as `String` or `Date`.
    var value: Any {
        switch self {
        case .text(let text): text
        case .data(let data): data
        case .date(let date): date
        case .flag(let flag): flag
        case .integer(let number): Int(number)
        case .double(let number): number
        case .array(let elements): elements.map(\.value)
        case .dictionary(let members): members.mapValues(\.value)
        }
    }

    // MARK: octets

    /// Writes the value: a `TypeCode`, and then the contents.
    func write(to writer: inout OctetWriter) {
        switch self {
        case .text(let text):
            writer.write(octet: TypeCode.text.rawValue)
            writer.write(text)
        case .data(let data):
            writer.write(octet: TypeCode.data.rawValue)
            writer.write(lengthPrefixed: data.span)
        case .date(let date):
            writer.write(octet: TypeCode.date.rawValue)
            writer.write(date.timeIntervalSinceReferenceDate)
        case .flag(let flag):
            writer.write(octet: TypeCode.flag.rawValue)
            writer.write(flag)
        case .integer(let number):
            writer.write(octet: TypeCode.integer.rawValue)
            writer.write(number)
        case .double(let number):
            writer.write(octet: TypeCode.double.rawValue)
            writer.write(number)
        case .array(let elements):
            writer.write(octet: TypeCode.array.rawValue)
            writer.write(UInt32(truncatingIfNeeded: elements.count))
            for element in elements { element.write(to: &writer) }
        case .dictionary(let members):
            writer.write(octet: TypeCode.dictionary.rawValue)
            writer.write(UInt32(truncatingIfNeeded: members.count))
            for (key, element) in members.sorted(by: { $0.key < $1.key }) {
                writer.write(key)
                element.write(to: &writer)
            }
        }
    }

    /// Reads a value in the format of `write(to:)`.
    init(from reader: inout OctetReader) throws(OctetReader.Damage) { try self.init(from: &reader, depth: 0) }

    /// Reads a value that is inside this many arrays and dictionaries.
    private init(from reader: inout OctetReader, depth: Int) throws(OctetReader.Damage) {
        guard depth < Self.maxDepth else { throw OctetReader.Damage() }
        switch TypeCode(rawValue: try reader.octet()) {
        case .text: self = .text(try reader.text())
        case .data: self = .data(Data(try reader.lengthPrefixedOctets()))
        case .date: self = .date(Date(timeIntervalSinceReferenceDate: try reader.double()))
        case .flag: self = .flag(try reader.flag())
        case .integer: self = .integer(try reader.signedNumber())
        // Unlike `OctetReader.double()`, accepts infinity and NaN.
        case .double: self = .double(Double(bitPattern: try reader.longNumber()))
        case .array:
            var elements: [StorableValue] = []
            for _ in 0..<(try reader.number()) {
                elements.append(try StorableValue(from: &reader, depth: depth + 1))
            }
            self = .array(elements)
        case .dictionary:
            var members: [String: StorableValue] = [:]
            for _ in 0..<(try reader.number()) {
                let key = try reader.text()
                members[key] = try StorableValue(from: &reader, depth: depth + 1)
            }
            self = .dictionary(members)
        case nil: throw OctetReader.Damage()
        }
    }
}
