// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineTLS
import LupineTransport
import Testing

@testable import Lupine
@testable import LupineLoading

/// The description of each kind of `TransportError`, in the error and in the response's debug description. `FailureTextTests` and
/// `ErrorTextTests` contain the failures that a test can provoke in a request.
struct ErrorTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let error: TransportError
        let code: URLError.Code
        let text: String
        var testDescription: String { text }

        init(_ error: TransportError, _ code: URLError.Code, _ text: String) {
            (self.error, self.code, self.text) = (error, code, text)
        }
    }

    private static func tls(_ error: TLSError) -> TransportError {
        .tls(host: "api.example", port: 443, error)
    }

    private static func untrusted(_ failure: TrustFailure) -> TransportError { tls(.untrusted(failure)) }

    private static func http(_ error: HTTPError) -> TransportError {
        .http(host: "api.example", port: 443, error)
    }

    private static func coding(_ error: CodingError) -> TransportError {
        .coding(host: "api.example", port: 443, error)
    }

    private static func late(_ timeout: TransferTimeout) -> TransportError {
        .timedOut(host: "api.example", port: 443, timeout, after: .seconds(30))
    }

    private static func unreachable(_ errors: [Int32]) -> TransportError {
        let failures = errors.enumerated().compactMap { index, error in
            SocketAddress(literal: "192.0.2.\(index + 1)", port: 443).map {
                ConnectFailure(address: $0, error: Errno(rawValue: error))
            }
        }
        return .unreachable(host: "api.example", port: 443, failures)
    }

    private static let oneSecond = UnixTime(seconds: 1_700_000_000)

    static let rows = [
        // Names and addresses.
        Row(
            .resolution(host: "api.example", .nameNotFound), .cannotFindHost,
            "cannot resolve api.example: the name does not exist; see whether it is spelled right, and known to this machine's name servers (getent hosts)"
        ),
        Row(
            .resolution(host: "api.example", .resolverUnavailable), .dnsLookupFailed,
            "cannot resolve api.example: no name server answered; try again later"),
        Row(
            unreachable([ECONNREFUSED, ECONNREFUSED]), .cannotConnectToHost,
            "cannot connect to api.example:443: 192.0.2.1:443: ECONNREFUSED (Connection refused); 192.0.2.2:443: ECONNREFUSED (Connection refused); nothing listens there: see whether it runs, and on this port"
        ),
        Row(
            unreachable([EHOSTUNREACH]), .cannotConnectToHost,
            "cannot connect to api.example:443: 192.0.2.1:443: EHOSTUNREACH (No route to host); see whether this machine has a route there (ip route get)"
        ),
        Row(
            unreachable([ENETUNREACH]), .notConnectedToInternet,
            "cannot connect to api.example:443: 192.0.2.1:443: ENETUNREACH (Network is unreachable); see whether this machine has a route there (ip route get)"
        ),
        Row(
            unreachable([ETIMEDOUT]), .timedOut,
            "cannot connect to api.example:443: 192.0.2.1:443: ETIMEDOUT (Connection timed out); see whether the address is right and no firewall drops what is sent there"
        ),
        // Time-outs.
        Row(
            late(.connect), .timedOut,
            "timed out after 30 s while connecting to api.example:443; see whether the port is right and no firewall drops what is sent there"
        ),
        Row(
            late(.tlsHandshake), .timedOut,
            "timed out after 30 s in the TLS handshake with api.example:443; see whether the port speaks TLS"),
        Row(
            late(.firstByte), .timedOut,
            "timed out after 30 s waiting for the first byte of the response from api.example:443; if the server may take longer, raise the time-out"
        ),
        Row(
            late(.idleRead), .timedOut,
            "timed out after 30 s waiting for more of the response from api.example:443; if the server may take longer, raise the time-out"
        ),
        Row(
            late(.idleWrite), .timedOut,
            "timed out after 30 s waiting to send more of the request to api.example:443; if the server may take longer, raise the time-out"
        ),
        Row(
            late(.idle), .timedOut,
            "timed out after 30 s without a byte to or from api.example:443; if the server may take longer, raise the time-out"
        ),
        Row(
            late(.whole), .timedOut,
            "timed out after 30 s before the exchange with api.example:443 was complete; if the server may take longer, raise the time-out"
        ),
        // Connections.
        Row(
            .connectionLost(host: "api.example", port: 443, .connectionReset), .networkConnectionLost,
            "the connection to api.example:443 was lost: ECONNRESET (Connection reset by peer)"),
        Row(
            http(.truncated(.beforeHead)), .networkConnectionLost,
            "HTTP with api.example:443: the peer closed the connection before the head of its answer"),
        // HTTP.
        Row(
            http(.notHTTP(octet: 0x32, offset: 0)), .badServerResponse,
            "HTTP with api.example:443: the first line is not HTTP/1.1: '2' at offset 0 (HTTP/0.9, or another protocol on this port)"
        ),
        Row(
            http(.invalidContentLength(Excerpt("1x"))), .badServerResponse,
            "HTTP with api.example:443: Content-Length is not a number that fits: \"1x\""),
        Row(
            http(.limitExceeded(.headBytes, allowed: 262_144)), .dataLengthExceedsMaximum,
            "HTTP with api.example:443: bytes of a head (headBytes) exceed the limit of 262144"),
        Row(
            .contentTooLong(limit: 1_024), .dataLengthExceedsMaximum,
            "the content is longer than 1024 bytes, the most that was to be collected: collect more of it (upTo:), or take it piece by piece"
        ),
        // Codings.
        Row(
            coding(.corrupt(coding: .gzip, offset: 3, fault: .checksum)), .cannotDecodeRawData,
            "the content from api.example:443 cannot be decoded: the body is not valid gzip: the checksum does not match, at byte 3"
        ),
        Row(
            coding(.ratioLimit(coding: .gzip, limit: 100, received: 10, decoded: 2_000)),
            .cannotDecodeRawData,
            "the content from api.example:443 cannot be decoded: the gzip body grows more than 100 times: 10 bytes were read and 2000 decoded (limit: expansion ratio)"
        ),
        Row(
            coding(.cutShort(coding: .br, offset: 3)), .cannotDecodeContentData,
            "the content from api.example:443 cannot be decoded: the br body was cut short after 3 bytes"),
        // TLS.
        Row(
            tls(.alert(.handshakeFailure)), .secureConnectionFailed,
            "TLS: api.example:443: the peer gave up with the alert handshake_failure"),
        Row(
            tls(.versionNotShared), .secureConnectionFailed,
            "TLS: api.example:443: the peer speaks no TLS version that is allowed here"),
        Row(
            tls(.cipherNotShared), .secureConnectionFailed,
            "TLS: api.example:443: the peer takes no cipher suite, group or signature that is allowed here"),
        Row(
            tls(.notTLS), .secureConnectionFailed,
            "TLS: api.example:443: the peer does not speak TLS on this port"),
        Row(
            tls(.clientCertificateRequired), .clientCertificateRequired,
            "TLS: api.example:443: the peer wants a client certificate, and none was sent"),
        Row(
            tls(.clientCertificateRejected(.badCertificate)), .clientCertificateRejected,
            "TLS: api.example:443: the peer refused the client certificate (alert bad_certificate)"),
        // Trust.
        Row(
            untrusted(.hostMismatch(host: "api.example", names: ["*.other.example"])),
            .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate for *.other.example (host name does not match)"),
        Row(
            untrusted(.expired(subject: "CN=api.example", since: oneSecond)), .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: the certificate of CN=api.example expired on 2023-11-14T22:13:20Z; it has to be renewed, unless this clock is wrong"
        ),
        Row(
            untrusted(.notYetValid(subject: "CN=api.example", until: oneSecond)), .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: the certificate of CN=api.example is not valid before 2023-11-14T22:13:20Z; this clock may be wrong"
        ),
        Row(
            untrusted(.selfSigned(subject: "CN=api.example")), .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: the certificate of CN=api.example is self-signed and not trusted; make it an anchor if it is yours"
        ),
        Row(
            untrusted(.untrustedRoot(subject: "CN=Root")), .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: the chain ends at CN=Root, which is no trusted root"
        ),
        Row(
            untrusted(.issuerMissing(subject: "CN=api.example", issuer: "CN=Between")),
            .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: the certificate of CN=api.example was issued by CN=Between, whose certificate was neither sent by the server nor is it trusted; the server has to send it, or it has to be supplied here"
        ),
        Row(
            untrusted(.revoked(subject: "CN=api.example", at: nil, reason: nil)), .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: the certificate of CN=api.example was revoked"
        ),
        Row(
            untrusted(.keyNotPinned(expected: ["sha256/a"], found: ["sha256/b"])),
            .serverCertificateUntrusted,
            "TLS: api.example:443 presented a certificate that is not trusted: no key of the chain is pinned; expected one of sha256/a, found sha256/b"
        ),
        // The request itself.
        Row(
            .url(.malformedPort(offset: 9)), .badURL,
            "cannot send to this URL: the port at octet 9 is no number from 1 to 65535"),
        Row(
            .url(.unsupportedScheme("ftp")), .unsupportedURL,
            "cannot send to this URL: the scheme \"ftp\" is not supported: http, https and http+unix are"),
        Row(.tooManyRedirects(limit: 20), .httpTooManyRedirects, "more than 20 redirects"),
        Row(
            .redirect(.emptyHost(offset: 7)), .redirectToNonExistentLocation,
            "a redirect that cannot be followed: there is no host at octet 7"),
        Row(
            .insecureRedirect(host: "api.example", port: 443), .appTransportSecurityRequiresSecureConnection,
            "a redirect from https to http on api.example:443 is not followed"),
        Row(
            .content("the file was removed"), .requestBodyStreamExhausted,
            "the content to send could not be read: the file was removed"),
        Row(.cancelled, .cancelled, "cancelled"),
        // Files.
        Row(
            .file(.noSuchFile), .fileDoesNotExist,
            "the file could not be read or written: ENOENT (No such file or directory)"),
        Row(
            .file(.accessDenied), .noPermissionsToReadFile,
            "the file could not be read or written: EACCES (Permission denied)"),
        Row(
            .file(Errno(rawValue: ENOSPC)), .cannotWriteToFile,
            "the file could not be read or written: ENOSPC (No space left on device)"),
    ]

    @Test(
        "[V-5.3, U-16.1] the description of an error has host, port, step and cause, and advice",
        arguments: rows)
    func texts(_ row: Row) throws {
        let url = try #require(URL(string: "https://api.example/path?q=1"))
        let error = URLError(row.error, url: url)
        #expect(error.code == row.code)
        #expect(error.localizedDescription == row.text)
        #expect(
            "\(error)".hasPrefix(
                "Error Domain=NSURLErrorDomain Code=\(row.code.rawValue) \"\(row.text)\"UserInfo={"))
        let failure = AFError.sessionTaskFailed(error: error)
        #expect(failure.localizedDescription == "The URLSessionTask failed: \(row.text)")
        let response = AFDataResponse<Data>(
            request: URLRequest(url: url), response: nil, data: nil, metrics: nil, serializationDuration: 0,
            result: .failure(failure))
        let description = response.debugDescription
        #expect(description.hasPrefix("[Request]: GET https://api.example/path?q=1\n"))
        #expect(
            description.contains(
                "[Result]: failure(Lupine.AFError.sessionTaskFailed(error: Error Domain=NSURLErrorDomain "
                    + "Code=\(row.code.rawValue) \"\(row.text)\"UserInfo={"))
        #expect(!"\(error)\(description)\(failure.localizedDescription)".contains("(null)"))
    }
}
