// SPDX-License-Identifier: MIT

/// JSON built from items with paths, HTTPie's `a[b][]=c`. Values are validated JSON text.
enum JSONTree {
    case value(String)
    case object([(name: String, tree: JSONTree)])
    case array([JSONTree])

    /// One step of a path.
    enum Step: Hashable {
        case member(String)
        case element(Int)
        case append
    }

    /// Parses a name into steps: `a`, `a[b]`, `a[]`, `a[0]`. A backslash before a bracket makes it an ordinary character.
    static func steps(_ name: String) throws(UsageError) -> [Step] {
        var steps: [Step] = []
        var part = ""
        var isInside = false
        var rest = name.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch (scalar, isInside) {
            case ("\\", _) where rest.first == "[" || rest.first == "]":
                if let next = rest.popFirst() { part.unicodeScalars.append(next) }
            case ("[", false):
                if steps.isEmpty, !part.isEmpty { steps.append(.member(part)) }
                part = ""
                isInside = true
            case ("]", true):
                guard steps.count < mostSteps else {
                    throw UsageError("`\(name)` has more than \(mostSteps) steps")
                }
                steps.append(step(part))
                part = ""
                isInside = false
                guard rest.isEmpty || rest.first == "[" else { throw broken(name) }
            case ("[", true): throw broken(name)
            default: part.unicodeScalars.append(scalar)
            }
        }
        if isInside { throw broken(name) }
        return steps.isEmpty ? [.member(part)] : steps
    }

    /// The step for the text in brackets. A string of digits is an index, even if it is too large for `Int`.
    private static func step(_ part: String) -> Step {
        if part.isEmpty { return .append }
        let isNumber = part.allSatisfy { $0.isASCII && $0.isNumber }
        return isNumber ? .element(Quantity.count(part) ?? .max) : .member(part)
    }

    private static func broken(_ name: String) -> UsageError {
        UsageError("`\(name)` is no path of JSON: write a[b], a[] or a[0], and \\[ for a bracket of the name")
    }

    /// Sets the value at a path.
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

    /// The initial value to which a step is applied.
    static func empty(for step: Step?) -> JSONTree {
        switch step {
        case .member: .object([])
        case .append, .element: .array([])
        case nil: .value("null")
        }
    }

    var text: String {
        switch self {
        case .value(let json): json
        case .object(let members): JSONText.object(members.map { ($0.name, $0.tree.text) })
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        }
    }
}
