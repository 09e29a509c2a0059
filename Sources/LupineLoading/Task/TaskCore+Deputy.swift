// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Support for a task that loads on behalf of a task of another session, as a recorder does to reach the servers.
///
/// Connections are made as its own session makes them. Cookies and credentials are only those of the other session and the
/// other task; if that task brings its own credentials, those of its session are not used.
extension TaskCore {
    /// Makes this task load on behalf of `principal`, unless that has finished. No effect once the load has been made.
    func deputise(for principal: TaskCore) {
        guard let others = principal.session?.core.context.settings else { return }
        let judges = principal.driverJudges
        let isPrincipalNamed = Self.namesUser(
            principal.originalRequest, others.additionalHeaders["Authorization"] != nil)
        // Its redirects need not repeat the user that its original request names.
        let bringsOther =
            principal.credential != nil || isPrincipalNamed && !Self.namesUser(originalRequest, false)
        let context = session?.core.context(for: others, withCredentials: !bringsOther)
        let credential = principal.hasLeftOrigin ? nil : principal.credential
        state.withLock { state in
            guard let context, case .definition(let definition, _, let maker) = state.loadFactory else {
                return
            }
            state.loadFactory = .definition(definition, context, maker: maker)
            state.deputisedJudges = judges
            state.credential = credential
        }
    }

    private static func namesUser(_ request: URLRequest?, _ identifiesUser: Bool) -> Bool {
        TaskCredentials(of: request, storage: nil, identifiesUser: identifiesUser).identifiesUser
    }
}

extension SessionCore {
    /// Whether another session verifies servers in the same way and shows them the same identity, as far as its delegates leave
    /// that to it.
    func isSecured(as other: SessionCore) -> Bool {
        context.settings.tls == other.context.settings.tls && context.rootsName == other.context.rootsName
            && context.settings.lupine.tls.identityOrigins
                == other.context.settings.lupine.tls.identityOrigins
            && context.engine.evaluator == other.context.engine.evaluator
    }

    /// The context of a load of this session on behalf of another session's user. Its memory of challenges is discarded with
    /// it.
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
