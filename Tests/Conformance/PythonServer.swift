// SPDX-License-Identifier: MIT

/// The file server of Python's standard library: HTTP/1.0, one request per connection.
struct PythonServer: ServerRecipe {
    /// Files of the site.
    var site: [(name: String, text: String)] = []

    let programs = ["python3"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { site }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [
            program, "-u", "-m", "http.server", "\(place.port)", "--bind", "127.0.0.1", "--directory",
            place.folder,
        ]
    }
}
