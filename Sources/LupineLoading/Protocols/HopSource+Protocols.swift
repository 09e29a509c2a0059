// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

extension HopSource {
    /// Asks the configuration's protocols, then the built-in ones.
    static let standard = HopSource(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: context.settings.protocolClasses ?? [], context: context, task: task,
                client: client)
        },
        asksProgram: { $0.settings.protocolClasses?.isEmpty == false })

    /// The same for the shared session: asks all protocols that are registered at the moment.
    static let shared = HopSource(
        make: { request, context, task, client in
            ProtocolSelection.load(
                request, classes: ProtocolRegistry.classes, context: context, task: task, client: client)
        },
        asksProgram: { _ in !ProtocolRegistry.classes.isEmpty })
}
