// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The preprocessing of content before it is serialized.
@Suite struct PreprocessorTests {
    @Test(
        "[V-12.12] the XSSI prefix is removed at the start, and only there",
        arguments: [
            (")]}',\n{\"a\":1}", "{\"a\":1}"), (")]}',\n", ""), (" )]}',\n1", " )]}',\n1"),
            (")]}',1", ")]}',1"),
            ("1)]}',\n", "1)]}',\n"), (")]}'", ")]}'"), ("", ""), (")]}',\n)]}',\n1", ")]}',\n1"),
        ])
    func prefix(content: String, expected: String) throws {
        let preprocessor: any DataPreprocessor = .googleXSSI
        #expect(try preprocessor.preprocess(Data(content.utf8)) == Data(expected.utf8))
        let slice = Data("xx\(content)".utf8).dropFirst(2)
        #expect(try preprocessor.preprocess(slice) == Data(expected.utf8), "as a slice")
    }

    @Test("the passthrough preprocessor leaves content unchanged")
    func passthrough() throws {
        let preprocessor: any DataPreprocessor = .passthrough
        let slice = Data([1, 2, 3]).dropFirst()
        #expect(try preprocessor.preprocess(slice) == Data([2, 3]))
        #expect(try preprocessor.preprocess(Data()) == Data())
    }
}
