// SPDX-License-Identifier: MIT

import Alamofire
import Lupine

/// Requests flowers from the server in its argument. Importing both modules causes no ambiguity: each name is declared once.
@main
enum AlamofireUser {
    static func main() async {
        let base = CommandLine.arguments.dropFirst().first ?? ""
        let client = Client(
            base: base, session: .init(user: "alice"), network: Alamofire.AF, interceptor: Again())
        do {
            let flowers = try await client.load(Flowers(colour: "blue"))
            print("\(flowers.map(\.name)), \(Alamofire.Session.self == Lupine.Session.self)")
            let missing = await AF.request(base + "/missing").validate().serializingData().response
            print(missing.error?.status ?? 0)
        } catch { print(error) }
    }
}
