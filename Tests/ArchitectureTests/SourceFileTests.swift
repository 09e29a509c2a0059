// SPDX-License-Identifier: MIT
import Testing

/// Tests of the lexer that the rules use: what counts as code, and on which line.
struct SourceFileTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let tokens: [String]
        var testDescription: String { name }
    }

    static let rows = [
        Row(name: "words and marks", text: "let a_1 = b!", tokens: ["let", "a_1", "=", "b", "!"]),
        Row(name: "line comment", text: "a // b\nc", tokens: ["a", "c"]),
        Row(name: "nested block comment", text: "a /* b /* c */ d */ e", tokens: ["a", "e"]),
        Row(name: "string", text: #"a "b // c" d"#, tokens: ["a", "\"", "d"]),
        Row(name: "escaped quote", text: #""a\"b" c"#, tokens: ["\"", "c"]),
        Row(
            name: "interpolation is code", text: #""a \(b("c)")) d" e"#,
            tokens: ["\"", "(", "b", "(", "\"", ")", ")", "e"]),
        Row(name: "raw string", text: ##"#"a "b" \(c)"# d"##, tokens: ["\"", "d"]),
        Row(name: "raw interpolation", text: ##"#"a \#(b)"# d"##, tokens: ["\"", "(", "b", ")", "d"]),
        Row(name: "multi-line string", text: "\"\"\"\na \" b\n\"\"\"\nc", tokens: ["\"", "c"]),
        Row(name: "unterminated string ends with its line", text: "\"a\nb", tokens: ["\"", "b"]),
    ]

    @Test(arguments: rows)
    func tokensAreTheCode(_ row: Row) {
        #expect(SourceFile(path: "Sample.swift", text: row.text).tokens.map(\.text) == row.tokens)
    }

    @Test func linesAreCountedThroughCommentsAndStrings() {
        let file = SourceFile(path: "Sample.swift", text: "a\n/*\n*/ b\n\"\"\"\n\n\"\"\" + c\n")
        #expect(file.tokens.map(\.line) == [1, 3, 4, 6, 6])
        #expect(file.lines.count == 6)
    }

    @Test func theRepositoryIsFound() throws {
        let files = try Repository.here.swiftFiles(under: "Sources")
        #expect(files.contains { $0.path == "Sources/LupineTransport/Lock.swift" })
        #expect(try Repository.here.file("Package.swift").tokens.contains { $0.text == "houseRules" })
    }
}
