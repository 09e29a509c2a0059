// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// A task on whose behalf a task of another session loads; that other task is called its deputy. The recorder of `LupineTesting`
/// uses a deputy to reach the servers.
///
/// The deputy's own session opens the connections. Cookies and credentials are those of the principal and its session. If the
/// principal has a credential of its own, the credentials of its session are not used.
struct TaskPrincipal {
    private let settings: SessionSettings
    /// The objects that decide whether servers are trusted.
    private let judges: [ObjectToken]
    /// The principal's own credential; nil if it has none.
    private let credential: URLCredential?
    private let hasLeftOrigin: Bool
    /// Whether the principal's requests identify the user.
    private let namesUser: Bool

    /// Reads what a deputy takes over. Returns nil if the principal has finished.
    init?(_ principal: TaskCore) {
        guard let settings = principal.session?.core.context.settings else { return nil }
        self.settings = settings
        judges = principal.driverJudges
        credential = principal.credential
        hasLeftOrigin = principal.hasLeftOrigin
        namesUser = Self.namesUser(
            principal.originalRequest, settings.additionalHeaders["Authorization"] != nil)
    }

    /// Makes `deputy` load on behalf of this principal. No effect if the deputy's load has been created.
    func engage(_ deputy: TaskCore) {
        // After a redirect of the principal, the deputy's request may lack the user that the principal's original request names.
        let lacksUser = namesUser && !Self.namesUser(deputy.originalRequest, false)
        guard
            let context = deputy.session?.core.context(
                for: settings, withCredentials: credential == nil && !lacksUser)
        else { return }
        deputy.state.withLock { state in
            guard case .definition(let definition, _, let maker) = state.loadFactory else { return }
            state.loadFactory = .definition(definition, context, maker: maker)
            state.principalJudges = judges
            // The program has set the credential for the origin of the principal's original request.
            state.credential = hasLeftOrigin ? nil : credential
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
