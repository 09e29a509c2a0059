// SPDX-License-Identifier: MIT

import LupineTestKit

/// nginx with TLS: one server for each certificate, each on its own address in 127.0.0.0/8, all on one port.
///
/// nginx 1.22 speaks TLS 1.3 only when `ssl_protocols` names it.
struct NginxTLSServer: ServerRecipe {
    /// One `server` block.
    struct Host {
        /// The last part of its address, 127.0.0.x.
        let address: Int
        /// The certificate's name in the PKI.
        let leaf: String
        /// The name of the stapled OCSP response.
        var staple: String?
        /// Further directives.
        var directives = ""
    }

    let hosts: [Host]
    var protocols = "TLSv1.2 TLSv1.3"

    let programs = ["nginx"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        var text = """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log info;
            events { worker_connections 256; }
            http {
                access_log access.log;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                ssl_protocols \(protocols);
                ssl_ciphers DEFAULT:@SECLEVEL=0;

            """
        for host in hosts {
            text += """
                    server {
                        listen 127.0.0.\(host.address):\(place.port) ssl;
                        ssl_certificate \(PKI.path("\(host.leaf)-chain.pem"));
                        ssl_certificate_key \(PKI.path("\(host.leaf).key"));
                        \(host.staple.map { "ssl_stapling on; ssl_stapling_file \(PKI.path("ocsp/\($0).der"));" } ?? "")
                        \(host.directives)
                        location / {
                            return 200 "$ssl_protocol $ssl_cipher $ssl_server_name $ssl_session_reused $ssl_client_s_dn";
                        }
                    }

                """
        }
        return [("nginx.conf", text + "}\n")]
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [program, "-p", place.folder, "-c", "nginx.conf", "-e", "error.log"]
    }
}
