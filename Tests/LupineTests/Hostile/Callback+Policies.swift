// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Callbacks that adapt, retry, authenticate, redirect and evaluate trust.
extension Callback {
    private struct Token: AuthenticationCredential {
        let asked: @Sendable () -> Bool
        var requiresRefresh: Bool { asked() }
    }

    /// Calls the hook in the step of that name.
    private final class Stepping: Authenticator {
        let step: String
        let hook: Hook

        init(_ step: String, _ hook: Hook) {
            self.step = step
            self.hook = hook
        }

        func reach(_ step: String) { if step == self.step { hook.call() } }

        func apply(_ credential: Token, to urlRequest: inout URLRequest) { reach("apply") }

        func refresh(
            _ credential: Token, for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            reach("refresh")
            completion(.failure(URLError(.userAuthenticationRequired)))
        }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool {
            reach("didRequest")
            return true
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            reach("isRequest")
            return true
        }
    }

    /// Makes a request that is refused, with an interceptor that authenticates it.
    private static func authenticated(_ step: String, holds: Holds = .session) -> Callback {
        Callback("authenticator's \(step)", holds: holds) { stage, hook in
            let authenticator = Stepping(step, hook)
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator,
                credential: Token {
                    authenticator.reach("requiresRefresh")
                    return false
                })
            return stage.session.request(stage.url("/status/401"), interceptor: interceptor).validate()
        }
    }

    private struct Redirecting: RedirectHandler {
        let hook: Hook
        func task(
            _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
            completion: @escaping (URLRequest?) -> Void
        ) {
            hook.call()
            completion(request)
        }
    }

    private struct Caching: CachedResponseHandler {
        let hook: Hook
        func dataTask(
            _ task: URLSessionDataTask, willCacheResponse response: CachedURLResponse,
            completion: @escaping (CachedURLResponse?) -> Void
        ) {
            hook.call()
            completion(response)
        }
    }

    private static func withCache(_ setUp: inout PipelineSetUp, _ hook: Hook) {
        setUp.configure = { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
    }

    private static func withRequestQueue(_ setUp: inout PipelineSetUp, _ hook: Hook) {
        setUp.requestQueue = DispatchQueue(label: "hostile.requests", attributes: .concurrent)
    }

    static let policies = [
        Callback("adapter") { stage, hook in
            stage.get().adapt(
                using: Adapter { request, _, completion in
                    hook.call()
                    completion(.success(request))
                })
        },
        Callback(
            "adapter on a queue of the program's", holds: .itself,
            prepare: withRequestQueue
        ) { stage, hook in
            stage.get().adapt(
                using: Adapter { request, _, completion in
                    hook.call()
                    completion(.success(request))
                })
        },
        Callback("retrier") { stage, hook in
            stage.get("/status/500").validate().retry(
                using: Retrier { _, _, _, completion in
                    hook.call()
                    completion(.doNotRetry)
                })
        },
        Callback("judge of being offline") { stage, hook in
            stage.get("/status/500").validate().retry(
                using: OfflineRetrier(isOfflineError: { _ in
                    hook.call()
                    return false
                }))
        },
        Callback("watch of the way back online", holds: .itself) { stage, hook in
            stage.get("/status/500").validate().retry(
                using: OfflineRetrier(
                    monitor: {
                        hook.call()
                        return NWPathMonitor(requiredInterfaceType: .cellular)
                    }(), maximumWait: .milliseconds(1), isOfflineError: { _ in true }))
        },
        authenticated("requiresRefresh"), authenticated("apply"), authenticated("didRequest"),
        authenticated("isRequest"), authenticated("refresh", holds: .itself),
        Callback("redirect handler") { stage, hook in
            stage.get("/redirect/1").redirect(using: Redirecting(hook: hook))
        },
        Callback("change of a redirect") { stage, hook in
            stage.get("/redirect/1").redirect(
                using: Redirector(
                    behavior: .modify { _, request, _ in
                        hook.call()
                        return request
                    }))
        },
        Callback("handler of cached responses", prepare: withCache) { stage, hook in
            stage.get("/cache/60").cacheResponse(using: Caching(hook: hook))
        },
        Callback("change of a cached response", prepare: withCache) { stage, hook in
            stage.get("/cache/60").cacheResponse(
                using: ResponseCacher(
                    behavior: .modify { _, response in
                        hook.call()
                        return response
                    }))
        },
        Callback(
            "trust evaluator",
            prepare: { setUp, hook in
                setUp.leaf = "good"
                setUp.trust = ServerTrustManager(
                    allHostsMustBeEvaluated: false,
                    evaluators: ["good.test": ClosureEvaluator { _ in hook.call() }])
            }),
    ]
}
