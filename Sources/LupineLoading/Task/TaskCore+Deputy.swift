// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Support for a deputy: a task that loads on behalf of another session's task, which is called the principal. The recorder of
/// `LupineTesting` uses a deputy to reach the servers.
///
/// The deputy's own session opens the connections. Cookies and credentials are those of the principal and its session. If the
/// principal has a credential of its own, the credentials of its session are not used.
extension TaskCore {
    /// Makes this task load on behalf of `principal`. No effect if the principal has finished or this task's load has been
    /// created.
    func loadOnBehalf(of principal: TaskCore) {
        guard let principalSettings = principal.session?.core.context.settings else { return }
        let judges = principal.driverJudges
        let principalNamesUser = Self.namesUser(
            principal.originalRequest, principalSettings.additionalHeaders["Authorization"] != nil)
        // After a redirect of the principal, this task's request may lack the user that the principal's original request names.
        let lacksUser = principalNamesUser && !Self.namesUser(originalRequest, false)
        let usesSessionCredentials = principal.credential == nil && !lacksUser
        let context = session?.core.context(
            for: principalSettings, withCredentials: usesSessionCredentials)
        // The program has set the credential for the origin of the principal's original request.
        let credential = principal.hasLeftOrigin ? nil : principal.credential
        state.withLock { state in
            guard let context, case .definition(let definition, _, let maker) = state.loadFactory else {
                return
            }
            state.loadFactory = .definition(definition, context, maker: maker)
            state.principalJudges = judges
            state.credential = credential
        }
    }

    /// Whether the request identifies the user, or its session adds `Authorization` to each request.
    private static func namesUser(_ request: URLRequest?, _ sessionNamesUser: Bool) -> Bool {
        // Whether the request names a user does not depend on a storage.
        TaskCredentials(of: request, storage: nil, identifiesUser: sessionNamesUser).identifiesUser
    }
}

extension SessionCore {
    /// Whether another session verifies servers in the same way and presents the same client certificate. Delegates, which may
    /// decide otherwise, are not compared.
    func hasSameTLSPolicy(as other: SessionCore) -> Bool {
        context.settings.tls == other.context.settings.tls && context.rootsName == other.context.rootsName
            && context.settings.lupine.tls.identityOrigins
                == other.context.settings.lupine.tls.identityOrigins
            && context.engine.evaluator == other.context.engine.evaluator
    }

    /// Returns a context for a load of this session with the cookies and credentials of another session. The context has a memory
    /// of challenges of its own, which is discarded with it.
    fileprivate func context(for principalSettings: SessionSettings, withCredentials: Bool) -> SessionContext
    {
        let configuration = copyOfConfiguration()
        configuration.httpCookieStorage = principalSettings.cookieStorage
        configuration.httpCookieAcceptPolicy = principalSettings.cookieAcceptPolicy
        configuration.urlCredentialStorage = withCredentials ? principalSettings.credentialStorage : nil
        return SessionContext(
            SessionSettings(configuration), engine: context.engine, hopLoadFactory: context.hopLoadFactory,
            clock: context.clock, network: context.network)
    }
}
