// SPDX-License-Identifier: MIT

/// Every Swift snippet of the guides, in their order, with its test.
enum SnippetTable {
    static let rows = usage + anatomy + advanced + four

    /// Of the guide to Alamofire 4, only the section on property lists applies to Alamofire 5's API.
    private static let four: [Snippet] = [
        Snippet(.four, at: "Response Handling", 1, .tested("PropertyListSnippets/aResponseIsAPropertyList")),
        Snippet(
            .four, at: "Parameter Encoding", 1, .tested("PropertyListSnippets/parametersAreAPropertyList")),
    ]

    /// Further tests: statements in the text of a guide.
    static let besides = [
        "AnatomySnippets/aBodyInAGETIsRefused", "CombineTwinSnippets/aCancelledTaskCancelsItsRequest",
    ]
}
