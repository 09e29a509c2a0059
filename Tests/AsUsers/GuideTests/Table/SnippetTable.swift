// SPDX-License-Identifier: MIT

/// Every Swift snippet of the guides, in their order, and where it is tested.
enum SnippetTable {
    static let rows = usage + anatomy + advanced + four

    /// Of the guide to Alamofire 4 only what it says about property lists has a place in Alamofire 5's API.
    private static let four: [Snippet] = [
        Snippet(.four, at: "Response Handling", 1, .tested("PropertyListSnippets/aResponseIsAPropertyList")),
        Snippet(
            .four, at: "Parameter Encoding", 1, .tested("PropertyListSnippets/parametersAreAPropertyList")),
    ]

    /// Tests beside the snippets: what a guide says in words.
    static let besides = [
        "AnatomySnippets/aBodyInAGETIsRefused", "CombineTwinSnippets/aCancelledTaskCancelsItsRequest",
    ]
}
