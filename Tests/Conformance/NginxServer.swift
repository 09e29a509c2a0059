// SPDX-License-Identifier: MIT

import LupineTestKit

/// nginx as an origin: one process in the foreground, with the brotli modules.
struct NginxServer: ServerRecipe {
    /// The body of its `server` block; `root` is the folder `site`.
    let locations: String
    /// Files of the site.
    var site: [(name: String, text: String)] = []
    /// Whether it speaks TLS, with the certificate `good` of the fixtures.
    var isSecure = false
    /// Whether it speaks HTTP/2: with TLS if the client chooses it, without TLS exclusively.
    var speaksHTTP2 = false
    /// Whether it has a master process, which replaces its only worker at SIGHUP.
    var isReloadable = false

    let programs = ["nginx"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        let text = """
            daemon off;
            \(isReloadable ? "worker_processes 1;" : "master_process off;")
            \(isReloadable && place.isRoot ? "user root;" : "")
            pid nginx.pid;
            error_log error.log info;
            load_module /usr/lib/nginx/modules/ngx_http_brotli_filter_module.so;
            load_module /usr/lib/nginx/modules/ngx_http_brotli_static_module.so;
            events { worker_connections 256; }
            http {
                access_log access.log;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                server {
                    listen 127.0.0.1:\(place.port)\(isSecure ? " ssl" : "")\(speaksHTTP2 ? " http2" : "");
                    \(isSecure ? certificate : "")
                    root \(place.folder);
                    \(locations)
                }
            }

            """
        return [("nginx.conf", text)] + site
    }

    private var certificate: String {
        """
        ssl_certificate \(PKI.path("good-chain.pem"));
        ssl_certificate_key \(PKI.path("good.key"));
        ssl_protocols TLSv1.2 TLSv1.3;
        """
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [program, "-p", place.folder, "-c", "nginx.conf", "-e", "error.log"]
    }
}
