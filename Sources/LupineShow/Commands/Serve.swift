// SPDX-License-Identifier: MIT

import Foundation
public import LupineCommand
import LupineOrigin
import LupineTLS

/// `lupine serve`: runs the origin server on loopback until the user interrupts it.
public enum Serve {
    /// Runs the server. Returns the exit status of the process, after the interruption or an error.
    public static func run(_ arguments: [String], _ context: ProcessContext) async -> Int32 {
        let options: ServeOptions
        do { options = try ServeOptions(arguments) } catch {
            context.errors.say("lupine serve: \(error)\n")
            return ExitCode.usage.rawValue
        }
        var configuration = OriginConfiguration()
        // Two event loops serve all connections.
        configuration.ownLoops = 2
        // Accepts HTTP/2, too; without a behaviour the origin would serve HTTP/1.1 only.
        configuration.http2 = HTTP2Behaviour()
        var certificatePath: String?
        do {
            if options.usesTLS {
                let identity = try EphemeralIdentity.make()
                var tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
                tls.applicationProtocols = ["h2", "http/1.1"]
                configuration.tls = tls
                certificatePath = try write(identity.certificate)
            }
            let origin = try Origin.start(
                host: options.host, port: options.port, configuration: configuration)
            await serve(origin, certificatePath, context)
            if let certificatePath { try? FileManager.default.removeItem(atPath: certificatePath) }
            return 0
        } catch {
            let reason = String(describing: error)
            context.errors.say(
                "lupine serve: cannot serve on \(options.host):\(options.port): \(reason). Try another --port, or 0 for any.\n"
            )
            return ExitCode.connect.rawValue
        }
    }

    /// Prints the addresses, waits for the interruption, shuts the origin down, and prints a summary.
    private static func serve(_ origin: Origin, _ certificatePath: String?, _ context: ProcessContext) async {
        var text: TerminalText = "Serving at \(origin.url)\n"
        if let certificatePath {
            text = "\(text)Its certificate is its own authority, for this run: --cacert \(certificatePath)\n"
        }
        // `lines:` keeps the line ends of the list; a plain interpolation would escape them.
        context.output.say("\(text)\n\(lines: ServeOptions.endpoints)\nCtrl-C ends it.\n")
        await withCheckedContinuation { continuation in
            // The listener is called at once if the interruption has already occurred.
            context.interruption.addListener { continuation.resume() }
        }
        let counts = origin.counts
        let summary: TerminalText =
            "\(counts.requests) requests on \(counts.connectionsAccepted) connections.\n"
        await origin.shutdown()
        context.output.say(summary)
    }

    /// Writes the certificate in PEM to a temporary file, for clients. Returns the path.
    private static func write(_ certificate: Certificate) throws -> String {
        let lines = Data(certificate.der).base64EncodedString(options: [
            .lineLength64Characters, .endLineWithLineFeed,
        ])
        let pem = "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("lupine-serve-\(UUID().uuidString.prefix(8)).pem").path
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(pem.utf8), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        return path
    }
}

/// The arguments of `lupine serve`.
struct ServeOptions: Hashable {
    var host = "127.0.0.1"
    /// The port; 0 stands for any free one.
    var port: UInt16 = 8080
    var usesTLS = false

    /// An error in the arguments, with a message for the user.
    struct ArgumentError: Error, Hashable, CustomStringConvertible {
        let description: String
    }

    init(_ arguments: [String]) throws(ArgumentError) {
        var unreadArguments = arguments[...]
        while let argument = unreadArguments.popFirst() {
            switch argument {
            case "--tls": usesTLS = true
            case "--port", "-p":
                guard let port = unreadArguments.popFirst().flatMap({ UInt16($0) }) else {
                    throw ArgumentError(description: "--port needs a number from 0 to 65535")
                }
                self.port = port
            case "--host":
                guard let host = unreadArguments.popFirst() else {
                    throw ArgumentError(description: "--host needs an address such as ::1")
                }
                self.host = host
            default:
                throw ArgumentError(
                    description:
                        "there is no option \(argument): lupine serve [--port N] [--host ADDRESS] [--tls]")
            }
        }
    }

    /// The endpoints, as the command lists them when it starts.
    static let endpoints = """
          /                         all paths, as JSON
          /get /post /put /anything what was sent, as JSON
          /status/404 /delay/2      any status, any delay
          /redirect/3               redirects
          /gzip /brotli /deflate    coded content
          /bytes/1048576            so many bytes
          /range/1048576            bytes in ranges; ?duration=5 takes its time
          /drip?duration=3          bytes one by one
          /basic-auth/user/secret   Basic; /digest-auth/auth/user/secret Digest
          /cookies/set/name/value   cookies
          /upload                   a multipart form, described
          /events                   server-sent events
          /websocket                a web socket that echoes

        """
}
