// SPDX-License-Identifier: MIT

/// Squid as a forward proxy that stores nothing.
///
/// Its request buffer is large, because squid 5.7 closes the connection when the buffer is full, if content of known length
/// arrives faster than the origin takes it.
struct SquidServer: ServerRecipe {
    /// The only user; nil to allow every client.
    var credentials: (user: String, passwordHash: String)?
    /// The only user, authenticated by Digest instead of Basic.
    var digest: (user: String, password: String)?
    /// A port that it refuses to connect to.
    var refusedPort: UInt16 = 1

    let programs = ["squid"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        var rules = """
            acl refused port \(refusedPort)
            http_access deny refused

            """
        var files: [(name: String, text: String)] = []
        if let credentials {
            files.append(("users", "\(credentials.user):\(credentials.passwordHash)\n"))
            rules += """
                auth_param basic program /usr/lib/squid/basic_ncsa_auth \(place.folder)/users
                auth_param basic children 2 startup=1
                auth_param basic realm lupine
                acl known proxy_auth REQUIRED
                http_access allow known
                http_access deny all

                """
        } else if let digest {
            files.append(("digests", "\(digest.user):\(digest.password)\n"))
            rules += """
                auth_param digest program /usr/lib/squid/digest_file_auth \(place.folder)/digests
                auth_param digest children 2 startup=1
                auth_param digest realm lupine
                acl known proxy_auth REQUIRED
                http_access allow known
                http_access deny all

                """
        } else {
            rules += "http_access allow all\n"
        }
        let text = """
            http_port 127.0.0.1:\(place.port)
            visible_hostname lupine.test
            \(rules)
            cache deny all
            cache_mem 8 MB
            client_request_buffer_max_size 16 MB
            max_filedescriptors 1024
            access_log stdio:\(place.folder)/access.log
            cache_log \(place.folder)/cache.log
            pid_filename none
            coredump_dir \(place.folder)
            netdb_filename none
            pinger_enable off
            shutdown_lifetime 0 seconds
            \(place.isRoot ? "cache_effective_user proxy" : "")

            """
        files.append(("squid.conf", text))
        return files
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [program, "-N", "-f", "\(place.folder)/squid.conf", "-n", "lupine\(place.port)"]
    }
}
