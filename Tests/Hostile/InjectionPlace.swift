// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineLoading
import LupineOrigin
import LupineTestKit
import Testing

/// A place where a program passes a string from its users, or from a server, to the library.
struct InjectionPlace: Sendable, CustomTestStringConvertible {
    /// The form in which a harmless string appears on the wire. A test searches for it to prove that the place leads there.
    enum Trace: Sendable {
        /// The string itself.
        case itself
        /// The string between two others.
        case between(String, String)
        /// The string between two others, all encoded in Base64.
        case base64(String, String)
        /// The string is not sent, or its form on the wire is not tested.
        case nowhere

        /// Returns the bytes that stand for `text` on the wire; nil if the test does not search for any.
        func encoded(_ text: String) -> String? {
            switch self {
            case .itself: text
            case .between(let before, let after): before + text + after
            case .base64(let before, let after): Data((before + text + after).utf8).base64EncodedString()
            case .nowhere: nil
            }
        }
    }

    let testDescription: String
    /// The origin's script; nil for its routes.
    var plan: (@Sendable (String) -> ScriptPlan)?
    /// Configures the session with the string.
    var configure: @Sendable (String, URLSessionConfiguration, LupineOrigin.Origin) throws -> Void = {
        _, _, _ in
    }
    var trace = Trace.itself
    /// Passes the string to the library, and waits until the request has ended.
    let use: @Sendable (HostileStage, String) async throws -> Void

    /// Returns a place whose string is part of a request.
    static func sent(
        _ name: String, trace: Trace = .itself,
        _ request: @escaping @Sendable (HostileStage, String) throws -> DataRequest
    ) -> InjectionPlace {
        InjectionPlace(testDescription: name, trace: trace) { stage, text in
            _ = try await request(stage, text).answered()
        }
    }

    /// Returns a place in a session's configuration.
    static func configured(
        _ name: String, trace: Trace = .itself,
        _ configure: @escaping @Sendable (String, URLSessionConfiguration) -> Void
    ) -> InjectionPlace {
        InjectionPlace(
            testDescription: name, configure: { text, configuration, _ in configure(text, configuration) },
            trace: trace,
            use: { stage, _ in _ = await stage.session.request(stage.url("/get")).answered() })
    }

    static let all = urls + heads + forms + cookies + credentials + proxies + servers + resumed + sockets

    // MARK: URLs

    static let urls: [InjectionPlace] = [
        .sent("a path in a URL string") { stage, text in stage.session.request(stage.url("/anything/\(text)"))
        },
        .sent("a query in a URL string") { stage, text in stage.session.request(stage.url("/get?a=\(text)"))
        },
        .sent("a fragment in a URL string", trace: .nowhere) { stage, text in
            stage.session.request(stage.url("/get#\(text)"))
        },
        .sent("a host in a URL string", trace: .between("", ".test")) { stage, text in
            stage.session.request(stage.url("/get", host: text + ".test"))
        },
        .sent("a port in a URL string", trace: .nowhere) { stage, text in
            stage.session.request("http://origin.test:\(stage.origin.port)\(text)/get")
        },
        .sent("a user in a URL string", trace: .nowhere) { stage, text in
            stage.session.request(stage.url("/basic-auth/u/p", host: "\(text):p@origin.test"))
        },
        .sent("a password in a URL string", trace: .base64("u:", "")) { stage, text in
            stage.session.request(stage.url("/basic-auth/u/p", host: "u:\(text)@origin.test"))
        },
        .sent("a path in components") { stage, text in
            var components = URLComponents(string: stage.url()) ?? URLComponents()
            components.path = "/anything/" + text
            return stage.session.request(components)
        },
        .sent("a query item in components") { stage, text in
            var components = URLComponents(string: stage.url("/get")) ?? URLComponents()
            components.queryItems = [URLQueryItem(name: text, value: text)]
            return stage.session.request(components)
        },
        .sent("a name of a parameter") { stage, text in
            stage.session.request(stage.url("/get"), parameters: [text: "v"])
        },
        .sent("a value of a parameter") { stage, text in
            stage.session.request(stage.url("/get"), parameters: ["n": text])
        },
        .sent("a value of an encoded parameter") { stage, text in
            stage.session.request(
                stage.url("/get"), parameters: ["n": text], encoder: URLEncodedFormParameterEncoder.default)
        },
        .sent("a value of a posted form") { stage, text in
            stage.session.request(stage.url("/post"), method: .post, parameters: ["n": text])
        },
    ]

    // MARK: heads

    static let heads: [InjectionPlace] =
        [
            .sent("a method") { stage, text in
                stage.session.request(stage.url("/anything"), method: HTTPMethod(rawValue: text))
            },
            .sent("a name of a header") { stage, text in
                stage.session.request(stage.url("/get"), headers: [HTTPHeader(name: text, value: "v")])
            },
            .sent("a bearer token") { stage, text in
                stage.session.request(stage.url("/get"), headers: [.authorization(bearerToken: text)])
            },
            .sent("a user of an Authorization header", trace: .base64("", ":p")) { stage, text in
                stage.session.request(
                    stage.url("/get"), headers: [.authorization(username: text, password: "p")])
            },
            .sent("a header of an adapter") { stage, text in
                let adapter = Adapter { request, _, completion in
                    var request = request
                    request.setValue(text, forHTTPHeaderField: "X-Adapted")
                    completion(.success(request))
                }
                return stage.session.request(
                    stage.url("/get"),
                    interceptor: Interceptor(adapter: adapter, retrier: Retrier { $3(.doNotRetry) }))
            },
            .configured("a value of the session's headers") { text, configuration in
                configuration.httpAdditionalHeaders = ["X-Additional": text]
            },
            .configured("a name of the session's headers") { text, configuration in
                configuration.httpAdditionalHeaders = [text: "v"]
            },
            .configured("the session's User-Agent") { text, configuration in
                configuration.httpAdditionalHeaders = ["User-Agent": text]
            },
            .configured("the session's Accept-Language") { text, configuration in
                configuration.httpAdditionalHeaders = ["Accept-Language": text]
            },
        ]
        + [
            "X-Own", "Referer", "Cookie", "Authorization", "User-Agent", "Range", "If-Range", "If-None-Match",
            "Accept-Encoding", "Content-Type", "Origin", "Host",
        ].map { name in
            .sent("a value of \(name)") { stage, text in
                stage.session.request(stage.url("/get"), headers: [HTTPHeader(name: name, value: text)])
            }
        }
        // Fields that the loader sets itself; it ignores the caller's values.
        + [
            "Connection", "Transfer-Encoding", "Content-Length", "Proxy-Authorization", "Expect", "TE",
            "Upgrade",
        ].map { name in
            .sent("a value of \(name)", trace: .nowhere) { stage, text in
                stage.session.request(stage.url("/get"), headers: [HTTPHeader(name: name, value: text)])
            }
        }

    // MARK: forms

    private static func form(
        _ name: String, isBoundary: Bool = false,
        trace: Trace = .itself,
        _ fill: @escaping @Sendable (MultipartFormData, String) -> Void
    ) -> InjectionPlace {
        .sent(name, trace: trace) { stage, text in
            let form = MultipartFormData(boundary: isBoundary ? text : "edge")
            fill(form, text)
            return stage.session.upload(multipartFormData: form, to: stage.url("/post"))
        }
    }

    static let forms: [InjectionPlace] = [
        form("a name of a part") { $0.append(Data("v".utf8), withName: $1) },
        form("a file name of a part") {
            $0.append(Data("v".utf8), withName: "n", fileName: $1, mimeType: "text/plain")
        },
        form("a type of a part") { $0.append(Data("v".utf8), withName: "n", fileName: "f", mimeType: $1) },
        form("a header's value of a part") { form, text in
            form.append(
                InputStream(data: Data("v".utf8)), withLength: 1,
                headers: [HTTPHeader(name: "X-Part", value: text)])
        },
        form("a header's name of a part") { form, text in
            form.append(
                InputStream(data: Data("v".utf8)), withLength: 1,
                headers: [HTTPHeader(name: text, value: "v")])
        },
        form("a boundary", isBoundary: true) { form, _ in form.append(Data("v".utf8), withName: "n") },
    ]

    // MARK: cookies

    private static func cookie(
        _ name: String, _ property: HTTPCookiePropertyKey,
        trace: Trace = .itself
    ) -> InjectionPlace {
        InjectionPlace(
            testDescription: name,
            configure: { text, configuration, _ in
                var properties: [HTTPCookiePropertyKey: Any] = [
                    .name: "n", .value: "v", .domain: "origin.test", .path: "/",
                ]
                properties[property] = text
                if let cookie = HTTPCookie(properties: properties) {
                    configuration.httpCookieStorage?.setCookie(cookie)
                }
            }, trace: trace,
            use: { stage, text in _ = await stage.session.request(stage.url("/get")).answered() })
    }

    static let cookies: [InjectionPlace] = [
        cookie("a stored cookie's name", .name), cookie("a stored cookie's value", .value),
        cookie("a stored cookie's path", .path, trace: .nowhere),
        cookie("a stored cookie's domain", .domain, trace: .nowhere),
    ]

    // MARK: credentials

    static let credentials: [InjectionPlace] = [
        .sent("a user name for Basic", trace: .base64("", ":p")) { stage, text in
            stage.session.request(stage.url("/basic-auth/u/p")).authenticate(username: text, password: "p")
        },
        .sent("a password for Basic", trace: .base64("u:", "")) { stage, text in
            stage.session.request(stage.url("/basic-auth/u/p")).authenticate(username: "u", password: text)
        },
        .sent("a user name for Digest", trace: .between("username=\"", "\"")) { stage, text in
            stage.session.request(stage.url("/digest-auth/auth/u/p")).authenticate(
                username: text, password: "p")
        },
        .sent("a password for Digest", trace: .nowhere) { stage, text in
            stage.session.request(stage.url("/digest-auth/auth/u/p")).authenticate(
                username: "u", password: text)
        },
    ]
}
