// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A task that loads for one of another session: a recorder reaches the servers by such.
///
/// How the servers are reached is its own session's. Cookies, and names and passwords, are those of the other session alone, and of
/// the other task: whoever takes part in that one has no part in a third.
extension TaskCore {
    /// Loads for `principal`, if that has not finished. Nothing happens when the load has been made.
    func deputise(for principal: TaskCore) {
        guard let others = principal.session?.core.context.settings else { return }
        let judges = principal.driverJudges
        let isPrincipalNamed = Self.namesUser(
            principal.originalRequest, others.additionalHeaders["Authorization"] != nil)
        // Which its redirects need not repeat.
        let bringsOther =
            principal.credential != nil || isPrincipalNamed && !Self.namesUser(originalRequest, false)
        let context = session?.core.context(for: others, withCredentials: !bringsOther)
        let credential = principal.hasLeftOrigin ? nil : principal.credential
        state.withLock { state in
            guard let context, case .order(let order, _, let maker) = state.making else { return }
            state.making = .order(order, context, maker: maker)
            state.deputisedJudges = judges
            state.credential = credential
        }
    }

    private static func namesUser(_ request: URLRequest?, _ isNamed: Bool) -> Bool {
        TaskCredentials(of: request, storage: nil, isNamed: isNamed).isNamed
    }
}

extension SessionCore {
    /// Whether another session holds servers to the same, and is the same to them, where its delegates leave that to it.
    func isSecured(as other: SessionCore) -> Bool {
        context.settings.tls == other.context.settings.tls && context.rootsName == other.context.rootsName
            && context.settings.lupine.tls.identityOrigins
                == other.context.settings.lupine.tls.identityOrigins
            && context.engine.evaluator == other.context.engine.evaluator
    }

    /// What a load of this session's goes by whose users are those of another one. What it learns of who asked whom goes with it.
    fileprivate func context(for others: SessionSettings, withCredentials: Bool) -> SessionContext {
        let configuration = copyOfConfiguration()
        configuration.httpCookieStorage = others.cookieStorage
        configuration.httpCookieAcceptPolicy = others.cookieAcceptPolicy
        configuration.urlCredentialStorage = withCredentials ? others.credentialStorage : nil
        return SessionContext(
            SessionSettings(configuration), engine: context.engine, loads: context.loads,
            clock: context.clock, network: context.network)
    }
}
