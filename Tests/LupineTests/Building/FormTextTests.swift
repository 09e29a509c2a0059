// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The encoding of the tree as text: sections 6.2 to 6.4 of the rules.
@Suite struct FormTextTests {
    private func text(_ value: any Encodable, _ encoder: URLEncodedFormEncoder = .init()) throws -> String {
        try encoder.encode(value)
    }

    @Test("[E-6.2.1, E-10.6] the root must be keyed or write nothing")
    func roots() throws {
        for (root, description) in [
            ([1] as any Encodable, "[1]"), ("s", "s"), (3, "3"), ([["a": 1]], "[[a: 1]]"),
        ] {
            #expect {
                try text(root)
            } throws: { error in
                guard case URLEncodedFormEncoder.Error.invalidRootObject(let found) = error else {
                    return false
                }
                return found == description
            }
        }
        #expect(throws: URLEncodedFormEncoder.Error.self) {
            try text(Int?.none, URLEncodedFormEncoder(nilEncoding: .null))
        }
        #expect(try text([Int]()) == "")
        #expect(try text(Int?.none) == "")
        #expect(try text([String: Int]()) == "")
        let data: Data = try URLEncodedFormEncoder().encode(["a": "ü"])
        #expect(data == Data("a=%C3%BC".utf8))
    }

    @Test("[E-6.2.2] the keys of nested values")
    func nestedKeys() throws {
        let value = ["u": ["id": 7]]
        #expect(try text(value) == "u%5Bid%5D=7")
        #expect(try text(value, .init(keyPathEncoding: .dots)) == "u.id=7")
        #expect(try text(value, .init(keyPathEncoding: .init { "-" + $0 })) == "u-id=7")
        let list = ["t": ["x", "y"]]
        #expect(try text(list, .init(arrayEncoding: .noBrackets)) == "t=x&t=y")
        #expect(try text(list, .init(arrayEncoding: .custom { $0 + String($1) })) == "t0=x&t1=y")
        #expect(
            try text(["m": [[1, 2], [3]]], .init(arrayEncoding: .indexInBrackets))
                == "m%5B0%5D%5B0%5D=1&m%5B0%5D%5B1%5D=2&m%5B1%5D%5B0%5D=3")
        #expect(
            try text(["p": [["k": 1, "j": 2]]], .init(arrayEncoding: .indexInBrackets))
                == "p%5B0%5D%5Bj%5D=2&p%5B0%5D%5Bk%5D=1")
    }

    @Test("[E-6.2.3, E-10.3] the key encoding receives the whole composed key")
    func composedKeys() throws {
        let value = ["user": ["firstName": "A"]]
        #expect(try text(value, .init(keyEncoding: .capitalized)) == "User%5BfirstName%5D=A")
        let seen = Protected<[String]>([])
        let custom = URLEncodedFormEncoder(
            keyEncoding: .custom { key in
                seen.write { $0.append(key) }
                return "k y"
            })
        #expect(try text(value, custom) == "k%20y=A")
        #expect(seen.read { $0 } == ["user[firstName]"])
        #expect(try text(["fooBar": [1]], .init(keyEncoding: .uppercased)) == "FOOBAR%5B%5D=1")
    }

    private struct Ordered: Encodable {
        let b = 1
        let a = 2
    }

    @Test("[E-6.2.4, E-6.2.5, E-10.2] pairs are joined, and sorted at each level by their escaped text")
    func sorting() throws {
        #expect(try text(["n": [30, 4, 200]]) == "n%5B%5D=200&n%5B%5D=30&n%5B%5D=4")
        let eleven = try text(["n": Array(0...10)], .init(arrayEncoding: .indexInBrackets))
        #expect(eleven.hasPrefix("n%5B0%5D=0&n%5B1%5D=1&n%5B10%5D=10&n%5B2%5D=2&"))
        #expect(try text(Ordered()) == "a=2&b=1")
        #expect(try text(Ordered(), .init(alphabetizeKeyValuePairs: false)) == "b=1&a=2")
        #expect(
            try text(["n": [30, 4, 200]], .init(alphabetizeKeyValuePairs: false))
                == "n%5B%5D=30&n%5B%5D=4&n%5B%5D=200")
        let mixed = ClosureEncodable { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: "a")
            try container.encode(["b": 1], forKey: "a ")
        }
        #expect(try text(mixed) == "a%20%5Bb%5D=1&a=1")
    }

    @Test("[E-6.2.6] the pairs of a key are adjacent")
    func levels() throws {
        let value = ClosureEncodable { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(["z": 1, "a": 2], forKey: "k")
            try container.encode(3, forKey: "k[m")
        }
        let bare = CharacterSet.afURLQueryAllowed.union(CharacterSet(charactersIn: "[]"))
        #expect(try text(value, .init(allowedCharacters: bare)) == "k[a]=2&k[z]=1&k[m=3")
    }

    @Test("[E-6.2.7] the encodings of spaces and plus signs, in keys and values")
    func spaces() throws {
        let value = ["k x+": "a b+c"]
        #expect(try text(value) == "k%20x%2B=a%20b%2Bc")
        #expect(try text(value, .init(spaceEncoding: .plusReplaced)) == "k+x%2B=a+b%2Bc")
    }

    @Test("[E-6.2.8] other allowed characters, also if set after the initialization")
    func allowedCharacters() throws {
        var narrow = CharacterSet.afURLQueryAllowed
        narrow.remove("/")
        #expect(try text(["p": "x/y"]) == "p=x/y")
        #expect(try text(["p": "x/y"], .init(allowedCharacters: narrow)) == "p=x%2Fy")
        let encoder = URLEncodedFormEncoder(spaceEncoding: .plusReplaced)
        encoder.allowedCharacters = narrow
        #expect(try text(["p": "x/y z"], encoder) == "p=x%2Fy+z")
    }

    @Test(
        "key encodings that split a key into words",
        arguments: [
            ("userName", "user_name"), ("userID", "user_id"), ("myHTTPServer", "my_http_server"),
            ("value1Two", "value1_two"), ("_leadingUnder_", "_leading_under_"),
            ("already_snake", "already_snake"),
            ("URLValue", "u_rl_value"), ("ABC", "a_bc"), ("foo[Bar]", "foo[_bar]"), ("", ""), ("a", "a"),
            ("A", "a"),
            ("Ab", "ab"), ("aB", "a_b"), ("aBC", "a_bc"), ("a1B2c", "a1_b_2c"), ("ÄpfelÖl", "äpfel_öl"),
            ("aBcD", "a_bc_d"),
        ])
    func words(key: String, expected: String) throws {
        let snake = URLEncodedFormEncoder.KeyEncoding.convertToSnakeCase
        #expect(snake.encode(key) == expected)
        // The same words with the other separator; underscores that were in the key stay.
        let kebab = URLEncodedFormEncoder.KeyEncoding.convertToKebabCase
        if !key.contains("_") { #expect(kebab.encode(key) == expected.replacing("_", with: "-")) }
        if !key.isEmpty, !key.contains("[") {
            let json = JSONEncoder()
            json.keyEncodingStrategy = .convertToSnakeCase
            #expect(
                String(decoding: try json.encode([AnyKeyed(key: key)]), as: UTF8.self)
                    == "[{\"\(expected)\":1}]")
        }
    }

    private struct AnyKeyed: Encodable {
        let key: String
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: AnyKey.self)
            try container.encode(1, forKey: AnyKey(key))
        }
    }

    @Test("the other key encodings")
    func keyEncodings() {
        typealias KeyEncoding = URLEncodedFormEncoder.KeyEncoding
        #expect(KeyEncoding.useDefaultKeys.encode("userName") == "userName")
        #expect(KeyEncoding.capitalized.encode("userName") == "UserName")
        #expect(KeyEncoding.capitalized.encode("") == "")
        #expect(KeyEncoding.uppercased.encode("userName") == "USERNAME")
        #expect(KeyEncoding.lowercased.encode("userName") == "username")
        #expect(KeyEncoding.custom { $0 + "!" }.encode("userName") == "userName!")
        #expect(KeyEncoding.convertToKebabCase.encode("userName") == "user-name")
    }
}
