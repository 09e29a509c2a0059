// SPDX-License-Identifier: MIT

internal import Foundation

/// Selects the load for a request: a `URLProtocol` of the program, the network, or a built-in load for `file:` and `data:`
/// (U-17.1). Must not be called on an event loop, because it calls the program's classes.
enum ProtocolSelection {
    /// Returns the load for a request; nil if nothing can load it. May call the program's classes.
    ///
    /// - Parameters:
    ///   - hop: The complete request, with the session's fields and cookies (U-17.3).
    ///   - classes: The program's classes, in the order in which `canInit(with:)` is called.
    ///   - context: The context of the session.
    ///   - task: The client of the task's driver. The request becomes its current request, which the program's classes may read.
    ///   - client: The client of the load.
    /// - Returns: The load, which is not started.
    static func load(
        _ hop: HopRequest, classes: [AnyClass], context: SessionContext, task: any TaskDriverClient,
        client: any HopLoadClient
    ) -> HopLoadFactory.NewLoad? {
        if !hop.isUpgrade, !classes.isEmpty,
            let load = protocolLoad(hop, classes: classes, context: context, task: task, client: client)
        {
            return HopLoadFactory.NewLoad(load: load, usesNetwork: false)
        }
        // Only `ws` and `wss` are loaded as an upgrade, which is the opening handshake of a WebSocket. Nothing can be uploaded to
        // a `file:` or `data:` URL.
        switch (hop.request.contents.value.scheme, hop.isUpgrade) {
        case (.http, false), (.https, false), (.ws, true), (.wss, true):
            return HopLoadFactory.NewLoad(
                load: NetworkLoad(hop, context: context, client: client), usesNetwork: true)
        case (.file, false) where !(task.driverTask is URLSessionUploadTask):
            return HopLoadFactory.NewLoad(load: FileLoad(hop.request, client: client), usesNetwork: false)
        case (.data, false) where !(task.driverTask is URLSessionUploadTask):
            return HopLoadFactory.NewLoad(load: DataURLLoad(hop.request, client: client), usesNetwork: false)
        // Nothing supports the scheme.
        case (_, _): return nil
        }
    }

    /// Returns a load with the first of the program's classes that can load the request; nil if there is none.
    private static func protocolLoad(
        _ hop: HopRequest, classes: [AnyClass], context: SessionContext, task: any TaskDriverClient,
        client: any HopLoadClient
    ) -> ProtocolLoad? {
        assertNoLockIsHeld()
        assertNotOnLoop()
        // The classes may read the task's current request.
        task.driverWillSend(hop.request)
        let publicTask = task.driverTask
        for case let candidate as URLProtocol.Type in classes where candidate.canInit(with: publicTask) {
            return ProtocolLoad(
                candidate, canonical: candidate.canonicalRequest(for: hop.request).addingBody(hop.body),
                task: publicTask,
                sessionValue: context.settings.lupine.protocolValue,
                idleTimeout: context.settings.idleTimeout(for: hop.request), clock: context.clock,
                client: client)
        }
        return nil
    }
}

extension URLRequest {
    /// Returns the request with the body of an upload task, for the program's `URLProtocol`. Does not add a body stream that the
    /// delegate supplies.
    fileprivate func addingBody(_ body: TaskDefinition.Body) -> URLRequest {
        var request = self
        switch body {
        case .request, .streamed: break
        case .data(let data): request.httpBody = data
        case .file(let file): request.httpBodyStream = InputStream(url: file)
        }
        return request
    }
}
