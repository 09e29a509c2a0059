// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// Support for a deputy: a task that loads on behalf of a task of another session, the principal. `LupineTesting`'s recorder uses
/// it to reach the servers.
///
/// Connections are opened as for the loading task's own session. Cookies and credentials are those of the principal's session and
/// the principal. If the principal has a credential of its own, the credentials of its session are not used.
extension TaskCore {
    /// Makes this task load on behalf of `principal`. No effect if the principal has finished or this task's load has been
    /// created.
    func loadOnBehalf(of principal: TaskCore) {
        guard let principalSettings = principal.session?.core.context.settings else { return }
        let judges = principal.driverJudges
        let isPrincipalNamed = Self.namesUser(
            principal.originalRequest, principalSettings.additionalHeaders["Authorization"] != nil)
        // A redirect of the principal does not have to repeat the user that the original request names.
        let hasOwnCredential =
            principal.credential != nil || isPrincipalNamed && !Self.namesUser(originalRequest, false)
        let context = session?.core.context(for: principalSettings, withCredentials: !hasOwnCredential)
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

    /// Whether the request identifies the user, or its session does for each request (`identifiesUser`).
    private static func namesUser(_ request: URLRequest?, _ identifiesUser: Bool) -> Bool {
        TaskCredentials(of: request, storage: nil, identifiesUser: identifiesUser).identifiesUser
    }
}

extension SessionCore {
    /// Whether another session verifies servers in the same way and presents the same client certificate, if no delegate decides
    /// that.
    func hasSameTLSPolicy(as other: SessionCore) -> Bool {
        context.settings.tls == other.context.settings.tls && context.rootsName == other.context.rootsName
            && context.settings.lupine.tls.identityOrigins
                == other.context.settings.lupine.tls.identityOrigins
            && context.engine.evaluator == other.context.engine.evaluator
    }

    /// Returns a context for a load of this session with the cookies and credentials of another session. Its memory of challenges
    /// is discarded with it.
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
