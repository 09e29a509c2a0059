// SPDX-License-Identifier: MIT

/// Tinyproxy: one request per connection, on both sides.
struct TinyproxyServer: ServerRecipe {
    /// The only user; nil to allow every client.
    var credentials: (user: String, password: String)?

    let programs = ["tinyproxy"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        let text = """
            Port \(place.port)
            Listen 127.0.0.1
            Timeout 60
            LogFile "\(place.folder)/tinyproxy.log"
            LogLevel Info
            MaxClients 100
            Allow 127.0.0.1
            ViaProxyName "lupine.test"
            \(credentials.map { "BasicAuth \($0.user) \($0.password)" } ?? "")

            """
        return [("tinyproxy.conf", text)]
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [program, "-d", "-c", "\(place.folder)/tinyproxy.conf"]
    }
}
