// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The encoding of a value as a tree: section 6.1 of the rules.
@Suite struct FormTreeTests {
    private let plain = URLEncodedFormEncoder()
    private let indexed = URLEncodedFormEncoder(
        alphabetizeKeyValuePairs: false, arrayEncoding: .indexInBrackets,
        keyPathEncoding: .dots, allowedCharacters: .afURLQueryAllowed.union(CharacterSet(charactersIn: "[]:"))
    )

    private func text(_ value: any Encodable, _ encoder: URLEncodedFormEncoder? = nil) throws -> String {
        try (encoder ?? plain).encode(value)
    }

    private func node(_ steps: [([AnyKey], String)]) -> URLEncodedFormNode {
        var node = URLEncodedFormNode.empty
        for (path, value) in steps { node.set(.string(value), at: ArraySlice<any CodingKey>(path)) }
        return node
    }

    @Test(
        "[E-6.1.1, E-6.1.2, E-6.1.3] the node that a value is written to",
        arguments: [
            ("nothing is an empty object", [], "[]"),
            ("no path", [([], "x")], "x"),
            ("a key", [(["a"], "x")], "[a: x]"),
            ("a number makes an array", [([AnyKey("9", 9)], "x")], "[x]"),
            ("and appends behind the end", [([AnyKey("0", 0)], "x"), ([AnyKey("7", 7)], "y")], "[x, y]"),
            ("replaces", [([AnyKey("0", 0)], "x"), ([AnyKey("0", 0)], "y")], "[y]"),
            ("appends before the start", [([AnyKey("-1", -1)], "x"), ([AnyKey("-1", -1)], "y")], "[x, y]"),
            (
                "updates an element", [([AnyKey("0", 0), "a"], "x"), ([AnyKey("0", 0), "b"], "y")],
                "[[a: x, b: y]]"
            ),
            ("an object becomes an array", [(["a"], "x"), ([AnyKey("0", 0)], "y")], "[y]"),
            ("an array becomes an object", [([AnyKey("0", 0)], "y"), (["a"], "x")], "[a: x]"),
            ("a string becomes an object", [(["a"], "x"), (["a", "b"], "y")], "[a: [b: y]]"),
            ("a key keeps its place", [(["a"], "1"), (["b"], "2"), (["a"], "3")], "[a: 3, b: 2]"),
        ] as [(String, [([AnyKey], String)], String)])
    func writeRule(what: String, steps: [([AnyKey], String)], expected: String) {
        #expect("\(node(steps))" == expected, "\(what)")
    }

    @Test("[E-6.1.3] objects with many keys behave like those with few")
    func manyKeys() {
        for count in [15, 16, 17, 18, 40] {
            var node = URLEncodedFormNode.empty
            for round in 0..<2 {
                for key in 0..<count {
                    node.set(.string("\(round)"), at: [AnyKey("k\(key)")])
                }
            }
            let expected = (0..<count).map { "k\($0): 1" }.joined(separator: ", ")
            #expect("\(node)" == "[\(expected)]")
        }
    }

    @Test("[E-6.1.4, E-10.6] an empty container writes nothing")
    func emptyContainers() throws {
        struct Empty: Encodable {}
        #expect(try text(["a": [Int](), "b": []]) == "")
        #expect(try text(Empty()) == "")
        #expect(try text(["a": [[Int]]()]) == "")
        #expect(try text(["a": ["b": [String: Int]()], "c": [:]]) == "")
    }

    @Test("[E-6.1.5] a later value of another kind replaces the earlier one")
    func laterKind() throws {
        let value = ClosureEncodable { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            var keyed = outer.nestedContainer(keyedBy: AnyKey.self, forKey: "r")
            try keyed.encode(1, forKey: "x")
            var unkeyed = outer.nestedUnkeyedContainer(forKey: "r")
            try unkeyed.encode(2)
        }
        #expect(try text(value) == "r%5B%5D=2")
    }

    @Test("[E-6.1.6] a repeated key has the first position and the last value")
    func keyTwice() throws {
        let value = ClosureEncodable { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: "b")
            try container.encode(2, forKey: "a")
            try container.encode(3, forKey: "b")
        }
        #expect(try text(value, indexed) == "b=3&a=2")
    }

    @Test("[E-6.1.7, E-10.6] keys with integer values form arrays")
    func numberKeys() throws {
        struct Numbered: Encodable {
            enum CodingKeys: Int, CodingKey { case first, second }
            let first = "x"
            let second = "y"
        }
        #expect(try text(["a": ["7": "x"]]) == "a%5B%5D=x")
        #expect(try text(["a": [7: "x"]]) == "a%5B%5D=x")
        #expect(try text(["a": ["-7": "x"]]) == "a%5B%5D=x")
        #expect(try text(["a": Numbered()]) == "a%5B%5D=x&a%5B%5D=y")
        #expect(throws: URLEncodedFormEncoder.Error.self) { try text(["7": "x"]) }
        let url = try #require(URL(string: "http://h/p"))
        #expect(try text(["u": url]) == "u%5B%5D=http%3A//h/p")
    }

    @Test("[E-6.1.8] a dropped nil leaves no element, and later elements move up")
    func droppedNil() throws {
        #expect(try text(["a": [1, nil, 3]], indexed) == "a[0]=1&a[1]=3")
        #expect(try text(["a": [["x": 1], nil, ["x": 2]]], indexed) == "a[0].x=1&a[1].x=2")
        let null = URLEncodedFormEncoder(arrayEncoding: .noBrackets, nilEncoding: .null)
        #expect(try text(["a": [1, nil]], null) == "a=1&a=null")
    }

    @Test("[E-6.1.8] elements after a dropped one are complete")
    func wholeElements() throws {
        struct Pair: Encodable {
            let x: Int
            let y: Int
        }
        #expect(try text(["a": [nil, Pair(x: 1, y: 2)]], indexed) == "a[0].x=1&a[0].y=2")
    }

    private class Animal: Encodable {
        let legs = 4
    }

    private final class Dog: Animal {
        enum Key: String, CodingKey { case name, base }
        let place: Key?
        init(place: Key?) { self.place = place }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("Rex", forKey: .name)
            try super.encode(to: place.map { container.superEncoder(forKey: $0) } ?? container.superEncoder())
        }
    }

    @Test("[E-6.1.9] a superclass writes beside its subclass, or under a given key")
    func superclass() throws {
        #expect(try text(Dog(place: nil)) == "legs=4&name=Rex")
        #expect(try text(Dog(place: .base)) == "base%5Blegs%5D=4&name=Rex")
    }

    @Test("[E-6.1.10] the count of an unkeyed container")
    func counting() throws {
        let counts = Protected<[Int]>([])
        let value = ClosureEncodable { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            var array = outer.nestedUnkeyedContainer(forKey: "a")
            func note() { counts.write { $0.append(array.count) } }
            note()
            try array.encode("x")
            note()
            try array.encodeNil()
            note()
            var keyed = array.nestedContainer(keyedBy: AnyKey.self)
            note()
            try keyed.encode("y", forKey: "k")
            var unkeyed = array.nestedUnkeyedContainer()
            note()
            try unkeyed.encode("z")
            let above = array.superEncoder()
            note()
            #expect(above.codingPath.map(\.stringValue) == ["a"])
            #expect(keyed.codingPath.map(\.stringValue) == ["a", "1"])
            #expect(unkeyed.codingPath.map(\.intValue) == [nil, 2])
        }
        #expect(try text(value, indexed) == "a[0]=x&a[1].k=y&a[2][0]=z")
        #expect(counts.read { $0 } == [0, 1, 1, 2, 3, 4])
    }

    @Test("[E-6.1.10] a nil that is written counts as an element")
    func countingWrittenNil() throws {
        let value = ClosureEncodable { encoder in
            var outer = encoder.container(keyedBy: AnyKey.self)
            var array = outer.nestedUnkeyedContainer(forKey: "a")
            try array.encodeNil()
            #expect(array.count == 1)
        }
        #expect(try text(value, URLEncodedFormEncoder(nilEncoding: .dropValue)) == "a%5B%5D=")
    }

    @Test("[E-6.1.11] a second value in a single-value container is an error")
    func singleValue() throws {
        for isNil in [true, false] {
            let value = ClosureEncodable { encoder in
                var outer = encoder.container(keyedBy: AnyKey.self)
                var container = outer.superEncoder(forKey: "a").singleValueContainer()
                if isNil { try container.encodeNil() } else { try container.encode(1) }
                try container.encode("second")
            }
            #expect {
                try text(value)
            } throws: { error in
                guard case EncodingError.invalidValue(let refused, let context) = error else { return false }
                return refused as? String == "second" && context.codingPath.map(\.stringValue) == ["a"]
            }
        }
    }

    private struct Optionals: Encodable {
        var bool: Bool?
        var string: String?
        var double: Double?
        var float: Float?
        var int: Int?
        var int8: Int8?
        var int16: Int16?
        var int32: Int32?
        var int64: Int64?
        var int128: Int128?
        var uint: UInt?
        var uint8: UInt8?
        var uint16: UInt16?
        var uint32: UInt32?
        var uint64: UInt64?
        var uint128: UInt128?
        var date: Date?
        var list: [Int]?
    }

    @Test("[E-6.1.12] optionals of every type use the nil encoding")
    func optionals() throws {
        let null = URLEncodedFormEncoder(nilEncoding: .null)
        #expect(try text(Optionals()) == "")
        let names = Mirror(reflecting: Optionals()).children.compactMap(\.label)
        #expect(try text(Optionals(), null) == names.map { "\($0)=null" }.sorted().joined(separator: "&"))
        let full = Optionals(
            bool: true, string: "s", double: 1, float: 2, int: 3, int8: 4, int16: 5, int32: 6, int64: 7,
            int128: 8,
            uint: 9, uint8: 10, uint16: 11, uint32: 12, uint64: 13, uint128: 14,
            date: Date(timeIntervalSinceReferenceDate: 5), list: [1])
        let expected =
            "bool=1&date=5.0&double=1.0&float=2.0&int128=8&int16=5&int32=6&int64=7&int8=4&int=3&list%5B%5D=1&"
            + "string=s&uint128=14&uint16=11&uint32=12&uint64=13&uint8=10&uint=9"
        #expect(try text(full, null) == expected)
    }
}
