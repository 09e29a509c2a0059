// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// Runs the user's layer against an origin. It shows what the layer does with the library in the language mode of this target.
@Suite struct APIClientTests {
    private struct Echo: Decodable, Sendable {
        let url: String
        let method: String
        let headers: [String: String]
        let data: String
        let form: [String: String]
    }

    private func serve(_ body: (LupineOrigin.Origin, APIClient, TokenStore) async throws -> Void) async throws
    {
        let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
        let store = TokenStore()
        let environment = APIEnvironment(baseURL: "http://127.0.0.1:\(origin.port)")
        let client = APIClient(environment: environment, store: store)
        let result: Result<Void, any Error>
        do { result = .success(try await body(origin, client, store)) } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    private func script(_ origin: LupineOrigin.Origin, _ path: String, _ answer: String) {
        origin.script("GET", path, ScriptPlan(.send(answer), .close))
    }

    private func answer(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func everyRouteIsSentAsItSays() async throws {
        try await serve { _, client, store in
            store.token = "secret"
            let user = User(id: 7, name: "Ada Lovelace")
            let base = client.environment.baseURL
            let routes: [(Router, String, String, String, [String: String])] = [
                (.user(id: 7, client.environment), "GET", "users/7", "", [:]),
                (
                    .search(query: "a b", page: 2, client.environment), "GET",
                    "search?exact=true&page=2&q=a%20b", "", [:]
                ),
                (.update(user, client.environment), "PATCH", "users/7", "", ["name": "Ada Lovelace"]),
                (.delete(id: 7, client.environment), "DELETE", "users/7", "", [:]),
            ]
            for (route, method, path, data, form) in routes {
                let echo = try await client.value(of: route, as: Echo.self)
                #expect(echo.method == method)
                #expect(echo.url == "\(base)/anything/\(path)")
                #expect(echo.data == data)
                #expect(echo.form == form)
                #expect(echo.headers["X-Client-Version"] == "1.4.2")
                #expect(echo.headers["Authorization"] == "Bearer secret")
            }
            let created = try await client.value(of: Router.create(user, client.environment), as: Echo.self)
            #expect(try JSONDecoder().decode(User.self, from: Data(created.data.utf8)) == user)
        }
    }

    @Test func aHandlerGetsTheValue() async throws {
        try await serve { _, client, _ in
            let result: Result<Echo, APIError> = await withCheckedContinuation { continuation in
                client.perform(Router.user(id: 1, client.environment), as: Echo.self) {
                    continuation.resume(returning: $0)
                }
            }
            let echo = try result.get()
            #expect(echo.method == "GET")
        }
    }

    @Test func aTokenIsRefreshedOnce() async throws {
        struct Bearer: Decodable, Sendable { let token: String }
        try await serve { origin, client, store in
            let url = try #require(URL(string: "\(client.environment.baseURL)/bearer"))
            let bearer = try await client.value(of: URLRequest(url: url), as: Bearer.self)
            #expect(bearer.token == "token-1")
            #expect(store.refreshCount == 1)
            #expect(origin.counts.requests == 2)
            #expect(client.logger.lines.filter { $0 == "retry 1" }.count == 1)
        }
    }

    @Test(arguments: [
        (404, "notFound", 1), (401, "unauthorized", 2), (500, "server(status: 500)", 1),
        (503, "server(status: 503)", 3),
    ])
    func statusesAreErrorsOfTheApp(_ status: Int, _ error: String, _ attempts: Int) async throws {
        try await serve { origin, client, _ in
            let url = try #require(URL(string: "\(client.environment.baseURL)/status/\(status)"))
            do {
                let echo = try await client.value(of: URLRequest(url: url), as: Echo.self)
                Issue.record("\(echo)")
            } catch let found as APIError {
                #expect("\(found)".hasSuffix(error), "\(found)")
            }
            #expect(origin.counts.requests == attempts)
        }
    }

    @Test func envelopesAreOpened() async throws {
        try await serve { origin, client, _ in
            script(origin, "/good", answer(#"{"payload":{"id":1,"name":"Ada"}}"#))
            script(origin, "/bad", answer(#"{"problem":{"code":"quota","message":"Too much"}}"#))
            script(origin, "/broken", answer("nothing"))
            #expect(try await client.payload(at: "good", as: User.self) == User(id: 1, name: "Ada"))
            for (path, expected) in [("bad", "quota"), ("broken", "decoding")] {
                do {
                    let user = try await client.payload(at: path, as: User.self)
                    Issue.record("\(user)")
                } catch let error as APIError {
                    #expect("\(error)".contains(expected), "\(error)")
                }
            }
        }
    }

    @Test func manyValuesComeInOrder() async throws {
        try await serve { _, client, _ in
            let routes = (1...10).map { Router.user(id: $0, client.environment) }
            let echoes = try await client.values(of: routes, as: Echo.self)
            let base = client.environment.baseURL
            #expect(echoes.map(\.url) == (1...10).map { "\(base)/anything/users/\($0)" })
        }
    }

    @Test func linesAreCounted() async throws {
        try await serve { _, client, _ in
            let count: Int? = await withCheckedContinuation { continuation in
                client.lineCount(at: "stream/3") { continuation.resume(returning: $0) }
            }
            #expect(count == 3)
        }
    }

    @Test func everythingIsCancelled() async throws {
        try await serve { origin, client, _ in
            origin.script("GET", "/held", ScriptPlan(.signal("asked"), .stall))
            let task = Task { try await client.payload(at: "held", as: User.self) }
            await origin.gate("asked").wait()
            client.cancelAll()
            do {
                let user = try await task.value
                Issue.record("\(user)")
            } catch let error as APIError {
                guard case .cancelled = error else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
    }

    @Test @MainActor func aModelIsFilled() async throws {
        let origin = try LupineOrigin.Origin.start(configuration: OriginConfiguration())
        let environment = APIEnvironment(baseURL: "http://127.0.0.1:\(origin.port)")
        let model = SearchModel(client: APIClient(environment: environment, store: TokenStore()))
        await withCheckedContinuation { continuation in
            model.search("lupine") { continuation.resume() }
        }
        #expect(model.url == "\(environment.baseURL)/anything/search?exact=true&page=1&q=lupine")
        #expect(model.message == nil)
        await origin.shutdown()
    }
}
