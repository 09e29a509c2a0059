// SPDX-License-Identifier: MIT

/// Requires that a closure in a lock is wrapped in a struct.
///
/// The type of a lock's value is a type parameter. The compiler stores a function there in a reabstraction thunk and reads it
/// through another one, and `withLock` stores the value that it has read. So each access adds thunks, which take memory, until a
/// call of the function overflows the stack. Optionals and tuples of functions behave the same; structs, arrays and dictionaries
/// are stored unchanged.
enum BareClosureRule {
    private static let locks: Set = ["Lock", "Mutex", "Protected"]

    /// The tokens that can follow the type of a `typealias`.
    private static let terminators: Set = [
        "typealias", "let", "var", "func", "struct", "init", "private", "package", "}",
    ]

    static func violations(in file: SourceFile) -> [Violation] {
        let functionNames = functionNames(in: file)
        return file.tokens.indices.compactMap { index in
            guard locks.contains(file.token(index)), file.token(index + 1) == "<" else { return nil }
            let argument = Self.argument(of: file, from: index + 2)
            let name = argument.filter { !["?", "(", ")"].contains($0) }
            let isNamed = name.count == 1 && name.allSatisfy(functionNames.contains)
            guard isNamed || isFunction(argument) else { return nil }
            return Violation(
                path: file.path, line: file.tokens[index].line,
                rule: "a closure in a lock lies in a struct: bare, each look wraps it once more")
        }
    }

    /// Returns the names of the type aliases for function types.
    private static func functionNames(in file: SourceFile) -> Set<String> {
        Set(
            file.tokens.indices.compactMap { index in
                guard file.token(index) == "typealias" else { return nil }
                let type = file.tokens[(index + 1)...].lazy.map(\.text).prefix { !terminators.contains($0) }
                return isFunction(type.drop { $0 != "=" }) ? file.token(index + 1) : nil
            })
    }

    /// Returns the tokens of a generic argument list, from `start` up to the `>` that ends it.
    private static func argument(of file: SourceFile, from start: Int) -> [String] {
        var depth = 1
        var texts: [String] = []
        for index in start..<max(start, file.tokens.count) {
            switch file.token(index) {
            case "<": depth += 1
            case ">" where file.token(index - 1) != "-":
                depth -= 1
                if depth == 0 { return texts }
            default: break
            }
            texts.append(file.token(index))
        }
        return texts
    }

    /// Returns whether the tokens contain an arrow outside of brackets and type arguments.
    private static func isFunction(_ tokens: some Sequence<String>) -> Bool {
        var depth = 0
        var previous = ""
        for token in tokens {
            switch token {
            case "[", "<": depth += 1
            case "]": depth -= 1
            case ">" where previous == "-": if depth == 0 { return true }
            case ">": depth -= 1
            default: break
            }
            previous = token
        }
        return false
    }
}
