// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineTLS
import LupineTransport
import Testing

@testable import LupineLoading

struct URLErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let error: TransportError
        let code: URLError.Code
        /// Words that the description has to contain.
        var words: [String] = []
        /// The underlying system error, if there is one.
        var system: Int32?

        var testDescription: String { "\(error)" }

        private static let address = SocketAddress(literal: "127.0.0.1", port: 81) ?? .unixUnnamed

        private static let head = ResponseHead(status: Status(403))

        private static func failed(_ errors: [Int32]) -> TransportError {
            .unreachable(
                host: "h", port: 443,
                errors.map { ConnectFailure(address: address, error: Errno(rawValue: $0)) })
        }

        private static func http(_ error: HTTPError) -> TransportError { .http(host: "h", port: 443, error) }
        private static func tls(_ error: TLSError) -> TransportError { .tls(host: "h", port: 443, error) }
        private static func coding(_ error: CodingError) -> TransportError {
            .coding(host: "h", port: 443, error)
        }

        static let all: [Row] =
            [
                // Addresses.
                Row(error: .url(.unsupportedScheme("ftp")), code: .unsupportedURL, words: ["ftp"]),
                Row(error: .url(.missingScheme), code: .unsupportedURL),
                Row(error: .url(.emptyHost(offset: 7)), code: .badURL),
                Row(error: .url(.malformedPort(offset: 9)), code: .badURL),
                Row(error: .unsupported("x"), code: .unsupportedURL, words: ["x"]),
                // Names.
                Row(
                    error: .resolution(host: "h.example", .nameNotFound), code: .cannotFindHost,
                    words: ["h.example"]),
                Row(error: .resolution(host: "h", .noAddress), code: .cannotFindHost),
                Row(error: .resolution(host: "h", .invalidName), code: .cannotFindHost),
                Row(error: .resolution(host: "h", .resolverUnavailable), code: .dnsLookupFailed),
                Row(error: .resolution(host: "h", .timedOut), code: .dnsLookupFailed),
                Row(error: .resolution(host: "h", .tooManyHungLookUps(limit: 4)), code: .dnsLookupFailed),
                Row(
                    error: .resolution(
                        host: "h", .resolverFailed(code: -11, system: Errno(rawValue: EMFILE))),
                    code: .dnsLookupFailed, system: EMFILE),
                Row(
                    error: .resolution(host: "h", .resolverFailed(code: -4, system: nil)),
                    code: .dnsLookupFailed),
                Row(error: .resolution(host: "h", .shutDown), code: .cancelled),
                // Connections.
                Row(
                    error: .connect(to: address, .connectionRefused), code: .cannotConnectToHost,
                    words: ["127.0.0.1:81", "ECONNREFUSED"], system: ECONNREFUSED),
                Row(error: .connect(to: address, .timedOut), code: .timedOut, system: ETIMEDOUT),
                Row(
                    error: .connect(to: address, .networkUnreachable), code: .notConnectedToInternet,
                    system: ENETUNREACH),
                Row(
                    error: failed([ECONNREFUSED, EHOSTUNREACH]), code: .cannotConnectToHost, words: ["h"],
                    system: EHOSTUNREACH),
                Row(error: failed([ENETUNREACH, ENETDOWN]), code: .notConnectedToInternet, system: ENETDOWN),
                Row(
                    error: failed([ENETUNREACH, ECONNREFUSED]), code: .cannotConnectToHost,
                    system: ECONNREFUSED),
                Row(error: failed([ENETUNREACH, ETIMEDOUT]), code: .timedOut, system: ETIMEDOUT),
                Row(
                    error: failed([ETIMEDOUT, ECONNREFUSED]), code: .cannotConnectToHost, system: ECONNREFUSED
                ),
                Row(error: failed([]), code: .cannotConnectToHost),
                Row(
                    error: .connectionLost(host: "h", port: 443, .connectionReset),
                    code: .networkConnectionLost,
                    words: ["h"], system: ECONNRESET),
                Row(
                    error: .connectionLost(host: "h", port: 443, .brokenPipe), code: .networkConnectionLost,
                    system: EPIPE),
                Row(
                    error: .connectionLost(host: "h", port: 443, .timedOut), code: .timedOut,
                    system: ETIMEDOUT),
                Row(
                    error: .outOfDescriptors(.tooManyDescriptors), code: .unknown, words: ["ulimit"],
                    system: EMFILE),
                Row(error: .system(.noMemory), code: .unknown, system: ENOMEM),
                // Proxies.
                Row(
                    error: .tunnel(proxy: "p", .authenticationRequired(head)),
                    code: .cannotConnectToHost, words: ["p"]),
                Row(error: .tunnel(proxy: "p", .refused(head)), code: .cannotConnectToHost),
                Row(error: .tunnel(proxy: "p", .colonInUser), code: .cannotConnectToHost),
                Row(
                    error: .tunnel(proxy: "p", .http(.notHTTP(octet: 0, offset: 0))), code: .badServerResponse
                ),
                Row(error: .tunnel(proxy: "p", .http(.truncated(.beforeHead))), code: .networkConnectionLost),
                Row(error: .socks(proxy: "p", .connectionRefused), code: .cannotConnectToHost),
                Row(error: .socks(proxy: "p", .authenticationRefused(status: 1)), code: .cannotConnectToHost),
                Row(error: .socks(proxy: "p", .unknownAddressType(9)), code: .badServerResponse),
                Row(error: .socks(proxy: "p", .closed(received: 1)), code: .networkConnectionLost),
                Row(error: .proxy(.emptyHost), code: .cannotConnectToHost),
                // TLS.
                Row(
                    error: tls(.untrusted(.selfSigned(subject: "CN=h"))), code: .serverCertificateUntrusted,
                    words: ["h:443"]),
                Row(
                    error: tls(.untrusted(.hostMismatch(host: "h", names: ["*.other.example"]))),
                    code: .serverCertificateUntrusted, words: ["h:443", "*.other.example", "host name"]),
                Row(error: tls(.clientCertificateRequired), code: .clientCertificateRequired),
                Row(
                    error: tls(.clientCertificateRejected(.badCertificate)), code: .clientCertificateRejected),
                Row(error: tls(.alert(.handshakeFailure)), code: .secureConnectionFailed),
                Row(error: tls(.versionNotShared), code: .secureConnectionFailed),
                Row(error: tls(.cipherNotShared), code: .secureConnectionFailed),
                Row(error: tls(.notTLS), code: .secureConnectionFailed),
                Row(error: tls(.closedInHandshake), code: .secureConnectionFailed),
                Row(error: tls(.configuration(.cipherList("x"))), code: .secureConnectionFailed),
                Row(error: tls(.truncated), code: .networkConnectionLost),
                Row(error: tls(.wireFailed), code: .networkConnectionLost),
                // HTTP.
                Row(error: http(.notHTTP(octet: 0, offset: 0)), code: .badServerResponse),
                Row(error: http(.invalidContentLength(Excerpt("x"))), code: .badServerResponse),
                Row(error: http(.unexpectedUpgrade), code: .badServerResponse),
                Row(
                    error: http(.limitExceeded(.headBytes, allowed: 5)), code: .dataLengthExceedsMaximum,
                    words: ["headBytes"]),
                Row(error: http(.limitExceeded(.fieldCount, allowed: 5)), code: .dataLengthExceedsMaximum),
                Row(error: http(.limitExceeded(.interimHeads, allowed: 5)), code: .badServerResponse),
                Row(
                    error: http(.truncated(.insideBody(received: 1, expected: 2))),
                    code: .networkConnectionLost),
                Row(error: http(.invalidMethod(Excerpt("G T"))), code: .badURL),
                Row(
                    error: http(.bodyLengthMismatch(announced: 3, given: 2)),
                    code: .requestBodyStreamExhausted),
                Row(error: .content("it broke"), code: .requestBodyStreamExhausted, words: ["it broke"]),
                // Codings.
                Row(
                    error: coding(.corrupt(coding: .gzip, offset: 3, fault: .checksum)),
                    code: .cannotDecodeRawData),
                Row(
                    error: coding(.ratioLimit(coding: .gzip, limit: 1, received: 1, decoded: 2)),
                    code: .cannotDecodeRawData),
                Row(error: coding(.cutShort(coding: .gzip, offset: 3)), code: .cannotDecodeContentData),
                // Files.
                Row(error: .file(.noSuchFile), code: .fileDoesNotExist, system: ENOENT),
                Row(error: .file(Errno(rawValue: EISDIR)), code: .fileIsDirectory, system: EISDIR),
                Row(error: .file(.accessDenied), code: .noPermissionsToReadFile, system: EACCES),
                Row(error: .file(Errno(rawValue: ENOSPC)), code: .cannotWriteToFile, system: ENOSPC),
                Row(error: .file(.inputOutput), code: .unknown, system: EIO),
                // The rest.
                Row(error: .contentTooLong(limit: 7), code: .dataLengthExceedsMaximum, words: ["7"]),
                Row(error: .tooManyRedirects(limit: 20), code: .httpTooManyRedirects, words: ["20"]),
                Row(
                    error: .insecureRedirect(host: "h.test", port: 80),
                    code: .appTransportSecurityRequiresSecureConnection, words: ["https", "h.test"]),
                Row(error: .redirect(.emptyHost(offset: 7)), code: .redirectToNonExistentLocation),
                Row(error: .redirect(.unsupportedScheme("file")), code: .unsupportedURL),
                Row(error: .cancelled, code: .cancelled),
                Row(error: .shutDown, code: .cancelled),
            ]
            + TransferTimeout.allCases.map {
                Row(
                    error: .timedOut(host: "h", port: 443, $0, after: .seconds(7)), code: .timedOut,
                    words: ["h", "after 7 s"])
            }
    }

    @Test(
        "[U-16.1] each failure has its code, its underlying error, and a readable description",
        arguments: Row.all)
    func codes(_ row: Row) throws {
        let url = try #require(URL(string: "https://h.example/p?q"))
        let error = URLError(row.error, url: url)
        #expect(error.code == row.code)
        #expect(error.userInfo[NSUnderlyingErrorKey] as? TransportError == row.error)
        for word in row.words { #expect(error.localizedDescription.contains(word)) }
        if row.code == .cancelled {
            #expect(error.localizedDescription == "cancelled")
        } else {
            #expect(error.localizedDescription == "\(row.error)")
        }
        #expect(
            "\(error)".hasPrefix(
                "Error Domain=NSURLErrorDomain Code=\(row.code.rawValue) \"\(error.localizedDescription)\"UserInfo={"
            ))
        let beneath = try #require(error.userInfo[NSUnderlyingErrorKey] as? any Error) as NSError
        #expect(beneath.localizedDescription == "\(row.error)")
        let system = beneath.userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(system?.domain == row.system.map { _ in NSPOSIXErrorDomain })
        #expect(system?.code == row.system.map { Int($0) })
    }

    @Test("[U-6.6] errors have the failing URL under both keys, and report a cancellation as cancelled")
    func failingURL() throws {
        let url = try #require(URL(string: "https://h.example/p?q#f"))
        let errors = [
            URLError(.cancelled, url: url), .loading(.timedOut, url: url, reason: "late"),
            .loading(.cancelled, url: url, underlying: CancellationError(), reason: "because"),
            .loading(.badURL, url: url, underlying: URLRequestError.invalidMethod("G T")),
        ]
        for error in errors {
            #expect(error.failingURL == url)
            #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == url)
            #expect(error.userInfo["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
            #expect((error as NSError).domain == NSURLErrorDomain)
        }
        #expect(
            errors.map(\.localizedDescription) == [
                "cancelled", "late", "cancelled", "\(URLRequestError.invalidMethod("G T"))",
            ])
        #expect(errors[3].userInfo[NSUnderlyingErrorKey] as? URLRequestError == .invalidMethod("G T"))
        let bare = URLError.loading(.resourceUnavailable, url: nil, reason: "why")
        #expect(bare.failingURL == nil && bare.localizedDescription == "why")
    }
}
