// SPDX-License-Identifier: MIT

internal import Foundation

/// Finds what carries out a hop: a protocol of the program's, the network, or one of the other built-in places (U-17.1).
/// The program's classes are asked on any thread but a loop's.
enum ProtocolSelection {
    /// The load of a hop; nil when nothing takes it. May call the program's classes.
    ///
    /// - Parameters:
    ///   - hop: The request is complete: the session's fields and cookies are in it (U-17.3).
    ///   - classes: The program's, in the order in which they are asked.
    static func load(
        _ hop: HopRequest, classes: [AnyClass], context: SessionContext, task: any TaskDriverClient,
        client: any HopLoadClient
    ) -> HopSource.Hop? {
        if !hop.isUpgrade, !classes.isEmpty,
            let load = custom(hop, classes: classes, context: context, task: task, client: client)
        {
            return HopSource.Hop(load: load, isTransaction: false)
        }
        switch (hop.request.contents.value.scheme, hop.isUpgrade) {
        case (.http, false), (.https, false), (.ws, true), (.wss, true):
            return HopSource.Hop(
                load: NetworkLoad(hop, context: context, client: client), isTransaction: true)
        case (.file, false) where !(task.driverTask is URLSessionUploadTask):
            return HopSource.Hop(load: FileLoad(hop.request, client: client), isTransaction: false)
        case (.data, false) where !(task.driverTask is URLSessionUploadTask):
            return HopSource.Hop(load: DataURLLoad(hop.request, client: client), isTransaction: false)
        case (_, _): return nil
        }
    }

    private static func custom(
        _ hop: HopRequest, classes: [AnyClass], context: SessionContext, task: any TaskDriverClient,
        client: any HopLoadClient
    ) -> ProtocolLoad? {
        assertNoLockIsHeld()
        assertNotOnLoop()
        // Classes look at the task's current request.
        task.driverSends(hop.request)
        let face = task.driverTask
        for case let candidate as URLProtocol.Type in classes where candidate.canInit(with: face) {
            return ProtocolLoad(
                candidate, canonical: candidate.canonicalRequest(for: hop.request).carrying(hop.body),
                task: face,
                sessionValue: context.settings.lupine.protocolValue,
                idleTimeout: context.settings.idleTimeout(for: hop.request), clock: context.clock,
                client: client)
        }
        return nil
    }
}

extension URLRequest {
    /// The request with the body of an upload task, for a protocol of the program's. A body that the delegate is asked for
    /// stays with the delegate.
    fileprivate func carrying(_ body: TaskOrder.Body) -> URLRequest {
        var request = self
        switch body {
        case .request, .streamed: break
        case .data(let data): request.httpBody = data
        case .file(let file): request.httpBodyStream = InputStream(url: file)
        }
        return request
    }
}
