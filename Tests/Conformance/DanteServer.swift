// SPDX-License-Identifier: MIT

/// Dante, a SOCKS5 proxy, with users and host names of its own.
///
/// It reads users from the system's files, so it runs in a mount namespace in which those files, and `hosts`, are replaced.
struct DanteServer: ServerRecipe {
    /// A name that is 127.0.0.1 for this proxy, and that the client cannot resolve.
    static let privateName = "behind-dante.lupine.test"

    /// The only user, with the password's hash; nil to allow every client.
    var credentials: (user: String, passwordHash: String)?
    /// A port that its rules forbid.
    var refusedPort: UInt16 = 1

    let programs = ["danted", "sockd"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        let text = """
            logoutput: \(place.folder)/danted.log
            internal: 127.0.0.1 port = \(place.port)
            external: 127.0.0.1
            user.privileged: root
            user.notprivileged: \(place.isRoot ? "nobody" : "root")
            clientmethod: none
            socksmethod: \(credentials == nil ? "none" : "username")
            client pass { from: 127.0.0.0/8 to: 0.0.0.0/0 }
            socks block { from: 0.0.0.0/0 to: 127.0.0.1/32 port = \(refusedPort) log: error }
            socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 log: error }

            """
        let system = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"
        let (user, hash) = credentials ?? ("unused", "*")
        return [
            ("danted.conf", text),
            ("passwd", system + "\(user):x:61234:61234::/:/bin/sh\n"),
            ("shadow", "\(user):\(hash):19000:0:99999:7:::\n"),
            ("hosts", "127.0.0.1 localhost \(Self.privateName)\n"),
        ]
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        let script = """
            for file in passwd shadow hosts; do mount --bind "$2/$file" /etc/$file || exit 1; done
            exec "$1" -f "$2/danted.conf" -p "$2/pid"
            """
        return ["unshare"] + (place.isRoot ? [] : ["--map-root-user"]) + [
            "--mount", "sh", "-c", script, "dante", program, place.folder,
        ]
    }
}
