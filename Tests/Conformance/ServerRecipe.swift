// SPDX-License-Identifier: MIT

/// How one kind of server is run: which program, with which files in its folder, by which command.
///
/// A recipe decides nothing at run time; `ServerProcess` carries it out.
protocol ServerRecipe: Sendable {
    /// Names of the program, or paths of it; the first that is installed is taken.
    var programs: [String] { get }
    /// Files to write into the server's own folder before it starts: name and text.
    func files(_ place: ServerPlace) -> [(name: String, text: String)]
    /// The program and its arguments. It must stay in the foreground and end on SIGTERM.
    func command(_ program: String, _ place: ServerPlace) -> [String]
}

/// Where a server runs.
struct ServerPlace: Sendable {
    /// A folder that is the server's alone, writable by everybody.
    let folder: String
    /// The port of 127.0.0.1 that it is to listen on.
    let port: UInt16
    /// Whether the tests run as root, so that servers that give up root need to be told.
    let isRoot: Bool
}

/// A recipe of any kind.
struct AnyRecipe: ServerRecipe {
    private let recipe: any ServerRecipe

    init(_ recipe: any ServerRecipe) { self.recipe = recipe }

    var programs: [String] { recipe.programs }
    func files(_ place: ServerPlace) -> [(name: String, text: String)] { recipe.files(place) }
    func command(_ program: String, _ place: ServerPlace) -> [String] { recipe.command(program, place) }
}
