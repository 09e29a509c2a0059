// SPDX-License-Identifier: MIT

/// haproxy as a reverse proxy in front of an origin: it adds `X-Forwarded-For`, and keeps connections to both sides.
struct HAProxyServer: ServerRecipe {
    /// The origin's port on 127.0.0.1.
    let origin: UInt16
    /// Whether its clients speak only HTTP/2 with it.
    var speaksHTTP2 = false

    let programs = ["haproxy"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        let text = """
            global
                maxconn 256
                tune.http.maxhdr 500
            defaults
                mode http
                timeout connect 10s
                timeout client 60s
                timeout server 60s
                option forwardfor
            frontend in
                bind 127.0.0.1:\(place.port)\(speaksHTTP2 ? " proto h2" : "")
                default_backend origin
            backend origin
                server only 127.0.0.1:\(origin)

            """
        return [("haproxy.cfg", text)]
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [program, "-db", "-f", "\(place.folder)/haproxy.cfg"]
    }
}
