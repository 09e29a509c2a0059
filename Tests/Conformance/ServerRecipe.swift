// SPDX-License-Identifier: MIT

/// The way to run one kind of server: its program, the files in its folder, its command.
///
/// A recipe only describes; `ServerProcess` carries it out.
protocol ServerRecipe: Sendable {
    /// Names or paths of the program; the first that is installed is used.
    var programs: [String] { get }
    /// Returns the files to write into the server's folder before it starts: name and text.
    func files(_ place: ServerPlace) -> [(name: String, text: String)]
    /// Returns the program and its arguments. It must stay in the foreground and end on SIGTERM.
    func command(_ program: String, _ place: ServerPlace) -> [String]
}

/// The place where a server runs.
struct ServerPlace: Sendable {
    /// A folder for this server only, writable by everybody.
    let folder: String
    /// The port of 127.0.0.1 on which it must listen.
    let port: UInt16
    /// Whether the tests run as root; some servers drop root unless they are configured not to.
    let isRoot: Bool
}

/// A type-erased recipe.
struct AnyRecipe: ServerRecipe {
    private let recipe: any ServerRecipe

    init(_ recipe: any ServerRecipe) { self.recipe = recipe }

    var programs: [String] { recipe.programs }
    func files(_ place: ServerPlace) -> [(name: String, text: String)] { recipe.files(place) }
    func command(_ program: String, _ place: ServerPlace) -> [String] { recipe.command(program, place) }
}
