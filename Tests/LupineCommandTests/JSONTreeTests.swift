// SPDX-License-Identifier: MIT

import Testing

@testable import LupineCommand

/// Tests of items whose names are paths in JSON.
struct JSONTreeTests {
    /// Returns the JSON of items with these names, whose values are 0, 1, 2 and so on.
    private func text(_ names: [String]) throws -> String {
        var tree = names.first?.hasPrefix("[") == true ? JSONTree.array([]) : JSONTree.object([])
        for (number, name) in names.enumerated() {
            try tree.insert("\(number)", at: JSONTree.path(name), itemName: name)
        }
        return tree.text
    }

    @Test(arguments: [
        (["a", "b", "a"], "{\"a\": 2, \"b\": 1}"), (["a[b]", "a[c]"], "{\"a\": {\"b\": 0, \"c\": 1}}"),
        (["a[]", "a[]"], "{\"a\": [0, 1]}"), (["a[2]", "a[0]"], "{\"a\": [1, null, 0]}"),
        (["a[b][][c]", "a[b][][c]"], "{\"a\": {\"b\": [{\"c\": 0}, {\"c\": 1}]}}"),
        (["a[0][b]", "a[0][c]"], "{\"a\": [{\"b\": 0, \"c\": 1}]}"), (["a\\[b\\]"], "{\"a[b]\": 0}"),
        (["[]", "[]"], "[0, 1]"), (["a[b]", "a"], "{\"a\": 1}"), (["a[1x]"], "{\"a\": {\"1x\": 0}}"),
        (["a\\b"], "{\"a\\\\b\": 0}"),
    ])
    func pathsAreFollowed(_ names: [String], _ json: String) throws { #expect(try text(names) == json) }

    @Test(arguments: [
        ["a["], ["a[b"], ["a[b]c"], ["a[[b]]"], ["a", "a[b]"], ["a[]", "a[b]"], ["a[b]", "a[]"], ["[]", "a"],
        ["a[10001]"], ["a[99999999999999]"], ["a[99999999999999999999999999]"],
        ["a" + String(repeating: "[b]", count: 100)],
    ])
    func conflictingPathsAreAnError(_ names: [String]) {
        #expect(throws: UsageError.self) { _ = try text(names) }
    }
}
