// SPDX-License-Identifier: MIT

/// JSON that is built from items whose names are paths, such as HTTPie's `a[b][]=c`.
enum JSONTree {
    /// The JSON text of a value, which the caller has validated.
    case value(String)
    case object([(name: String, tree: JSONTree)])
    case array([JSONTree])

    /// One step of a path.
    enum Step: Hashable {
        /// A member of an object.
        case member(String)
        /// The element of an array with this index.
        case element(Int)
        /// A new element at the end of an array.
        case append
    }

    /// Parses a name such as `a`, `a[b]`, `a[]` or `a[0]` into steps. A backslash before a bracket makes the bracket an ordinary
    /// character.
    static func steps(_ name: String) throws(UsageError) -> [Step] {
        var steps: [Step] = []
        var part = ""
        var isInBrackets = false
        var rest = name.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, isInBrackets) {
            case ("\\", _) where rest.first == "[" || rest.first == "]":
                if let next = rest.popFirst() { part.unicodeScalars.append(next) }
            case ("[", false):
                if steps.isEmpty, !part.isEmpty { steps.append(.member(part)) }
                part = ""
                isInBrackets = true
            case ("]", true):
                guard steps.count < mostSteps else {
                    throw UsageError("`\(name)` has more than \(mostSteps) steps")
                }
                steps.append(step(part))
                part = ""
                isInBrackets = false
                guard rest.isEmpty || rest.first == "[" else { throw invalidPath(name) }
            case ("[", true): throw invalidPath(name)
            default: part.unicodeScalars.append(scalar)
            }
        }
        if isInBrackets { throw invalidPath(name) }
        return steps.isEmpty ? [.member(part)] : steps
    }

    /// Returns the step for the text in brackets. Digits are an index, even one that is too large for `Int`.
    private static func step(_ part: String) -> Step {
        if part.isEmpty { return .append }
        let isNumber = part.allSatisfy { $0.isASCII && $0.isNumber }
        return isNumber ? .element(Quantity.count(part) ?? .max) : .member(part)
    }

    private static func invalidPath(_ name: String) -> UsageError {
        UsageError("`\(name)` is no path of JSON: write a[b], a[] or a[0], and \\[ for a bracket of the name")
    }

    /// Sets the value at a path, and creates the objects and arrays that lead there. Throws if the path does not match the values
    /// that exist; the error contains `name`.
    mutating func put(_ json: String, at path: some Collection<Step>, of name: String) throws(UsageError) {
        guard let step = path.first else {
            self = .value(json)
            return
        }
        let rest = path.dropFirst()
        switch (step, self) {
        case (.member(let key), .object(var members)):
            let index = members.firstIndex { $0.name == key } ?? members.count
            if index == members.count { members.append((key, Self.empty(for: rest.first))) }
            try members[index].tree.put(json, at: rest, of: name)
            self = .object(members)
        case (.append, .array(var elements)):
            elements.append(Self.empty(for: rest.first))
            try elements[elements.count - 1].put(json, at: rest, of: name)
            self = .array(elements)
        case (.element(let index), .array(var elements)):
            guard index <= Self.mostElements else {
                throw UsageError("`\(name)` has a place beyond \(Self.mostElements)")
            }
            while elements.count < index { elements.append(.value("null")) }
            if index == elements.count {
                elements.append(Self.empty(for: rest.first))
            } else if case .value("null") = elements[index] {
                elements[index] = Self.empty(for: rest.first)
            }
            try elements[index].put(json, at: rest, of: name)
            self = .array(elements)
        case (.member, _), (.append, _), (.element, _):
            throw UsageError("`\(name)` does not go with what another item has put there")
        }
    }

    private static let mostElements = 10_000
    /// The maximum number of steps of a path, since each step is a recursive call.
    private static let mostSteps = 100

    /// Returns the empty value to which a step is applied; null if there is no step.
    static func empty(for step: Step?) -> JSONTree {
        switch step {
        case .member: .object([])
        case .append, .element: .array([])
        case nil: .value("null")
        }
    }

    /// The JSON text.
    var text: String {
        switch self {
        case .value(let json): json
        case .object(let members): JSONText.object(members.map { ($0.name, $0.tree.text) })
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        }
    }
}
