// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP2

/// Tests of the examples of RFC 7541, Appendix C.2 to C.6, decoded and encoded.
@Suite struct HPACKExamplesTests {
    /// One block: its octets, its fields, and the dynamic table after it.
    struct Step {
        let bytes: String
        let fields: [(String, String)]
        var indexing = HeaderList.Indexing.incremental
        let tableSize: Int
        let tableCount: Int
    }

    /// The blocks of one connection.
    struct Example: CustomTestStringConvertible {
        let title: String
        var tableSize = 4_096
        var usesHuffman = false
        let steps: [Step]
        var testDescription: String { title }
    }

    static let single: [Example] = [
        Example(
            title: "C.2.1: a literal with indexing",
            steps: [
                Step(
                    bytes: "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572",
                    fields: [("custom-key", "custom-header")], tableSize: 55, tableCount: 1)
            ]),
        Example(
            title: "C.2.2: a literal without indexing",
            steps: [
                Step(
                    bytes: "040c 2f73 616d 706c 652f 7061 7468", fields: [(":path", "/sample/path")],
                    indexing: .without, tableSize: 0, tableCount: 0)
            ]),
        Example(
            title: "C.2.3: a literal never indexed",
            steps: [
                Step(
                    bytes: "1008 7061 7373 776f 7264 0673 6563 7265 74", fields: [("password", "secret")],
                    indexing: .never, tableSize: 0, tableCount: 0)
            ]),
        Example(
            title: "C.2.4: an indexed field",
            steps: [Step(bytes: "82", fields: [(":method", "GET")], tableSize: 0, tableCount: 0)]),
    ]

    private static let requests: [[(String, String)]] = [
        [
            (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com"),
        ],
        [
            (":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "www.example.com"),
            ("cache-control", "no-cache"),
        ],
        [
            (":method", "GET"), (":scheme", "https"), (":path", "/index.html"),
            (":authority", "www.example.com"), ("custom-key", "custom-value"),
        ],
    ]

    private static let responses: [[(String, String)]] = [
        [
            (":status", "302"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "307"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:21 GMT"),
            ("location", "https://www.example.com"),
        ],
        [
            (":status", "200"), ("cache-control", "private"), ("date", "Mon, 21 Oct 2013 20:13:22 GMT"),
            ("location", "https://www.example.com"), ("content-encoding", "gzip"),
            ("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
        ],
    ]

    static let several: [Example] = [
        Example(
            title: "C.3: requests without Huffman coding",
            steps: [
                Step(
                    bytes: "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", fields: requests[0],
                    tableSize: 57, tableCount: 1),
                Step(
                    bytes: "8286 84be 5808 6e6f 2d63 6163 6865", fields: requests[1],
                    tableSize: 110, tableCount: 2),
                Step(
                    bytes: """
                        8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65
                        """, fields: requests[2], tableSize: 164, tableCount: 3),
            ]),
        Example(
            title: "C.4: requests with Huffman coding", usesHuffman: true,
            steps: [
                Step(
                    bytes: "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", fields: requests[0],
                    tableSize: 57, tableCount: 1),
                Step(
                    bytes: "8286 84be 5886 a8eb 1064 9cbf", fields: requests[1],
                    tableSize: 110, tableCount: 2),
                Step(
                    bytes: "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf",
                    fields: requests[2], tableSize: 164, tableCount: 3),
            ]),
        Example(
            title: "C.5: responses without Huffman coding", tableSize: 256,
            steps: [
                Step(
                    bytes: """
                        4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133
                        2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70
                        6c65 2e63 6f6d
                        """, fields: responses[0], tableSize: 222, tableCount: 4),
                Step(
                    bytes: "4803 3330 37c1 c0bf", fields: responses[1], tableSize: 222, tableCount: 4),
                Step(
                    bytes: """
                        88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d
                        54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049
                        5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e
                        3d31
                        """, fields: responses[2], tableSize: 215, tableCount: 3),
            ]),
        Example(
            title: "C.6: responses with Huffman coding", tableSize: 256, usesHuffman: true,
            steps: [
                Step(
                    bytes: """
                        4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6
                        2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3
                        """, fields: responses[0], tableSize: 222, tableCount: 4),
                Step(bytes: "4883 640e ffc1 c0bf", fields: responses[1], tableSize: 222, tableCount: 4),
                Step(
                    bytes: """
                        88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab
                        77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f
                        9587 3160 65c0 03ed 4ee5 b106 3d50 07
                        """, fields: responses[2], tableSize: 215, tableCount: 3),
            ]),
    ]

    @Test("[H-10.10] Appendix C, decoded", arguments: single + several) func decoding(_ example: Example)
        throws
    {
        var decoder = HPACKDecoder(tableSize: example.tableSize)
        for step in example.steps {
            let block = Octets.hex(step.bytes)
            let list = try decoder.decode(block.span)
            #expect(Lists.lines(list) == step.fields.map { "\($0): \($1)" })
            #expect(decoder.tableSize == step.tableSize)
            #expect(decoder.tableEntryCount == step.tableCount)
            if step.fields.count == 1 { #expect(list.indexing(at: 0) == step.indexing) }
        }
    }

    @Test("[H-10.10] Appendix C, encoded", arguments: single + several) func encoding(_ example: Example) {
        var encoder = HPACKEncoder(tableSize: example.tableSize, usesHuffman: example.usesHuffman)
        for step in example.steps {
            var list = HeaderList()
            for (name, value) in step.fields { list.append(name, value, indexing: step.indexing) }
            var block: [UInt8] = []
            encoder.encode(list, into: &block)
            // The encoder sends a field of the static table as an index, whatever the list's indexing is.
            #expect(block == Octets.hex(step.bytes))
            #expect(encoder.tableSize == step.tableSize)
            #expect(encoder.tableEntryCount == step.tableCount)
        }
    }

    /// Checks that a block that ends early gives the fields before the cut, or is refused as truncated.
    @Test(arguments: single + several) func truncatedAnywhere(_ example: Example) throws {
        var decoder = HPACKDecoder(tableSize: example.tableSize)
        for step in example.steps {
            let block = Octets.hex(step.bytes)
            let fields = step.fields.map { "\($0): \($1)" }
            var boundaries = 0
            for cut in block.indices {
                var other = decoder
                do throws(HPACKError) {
                    let list = try other.decode(block.span.extracting(first: cut))
                    #expect(Lists.lines(list) == Array(fields.prefix(list.count)))
                    #expect(list.count < fields.count)
                    boundaries += 1
                } catch {
                    #expect(error == .truncated)
                }
            }
            #expect(boundaries == fields.count)
            _ = try decoder.decode(block.span)
        }
    }
}

/// Converts header lists to text for comparisons.
enum Lists {
    static func lines(_ list: HeaderList) -> [String] {
        list.indices.map { index in
            let octets = list.octets
            return Octets.text(octets[list.nameRange(at: index)]) + ": "
                + Octets.text(octets[list.valueRange(at: index)])
        }
    }
}
