// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Requests whose body is collected.
extension LimitConsumer {
    private struct Plain: DataResponseSerializerProtocol {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Int {
            if let error { throw error }
            return data?.count ?? 0
        }
    }

    static let data = [
        LimitConsumer("DataRequest.response") { stage, path in
            await called { answer in stage.get(path).response(queue: stage.handlers) { answer($0) } }.error
        },
        LimitConsumer("DataRequest.response", "ResponseSerializer") { stage, path in
            await called { answer in
                stage.get(path).response(
                    queue: stage.handlers, responseSerializer: DataResponseSerializer()
                ) { answer($0.error) }
            }
        },
        LimitConsumer("DataRequest.response", "DataResponseSerializerProtocol") { stage, path in
            await called { answer in
                stage.get(path).response(queue: stage.handlers, responseSerializer: Plain()) {
                    answer($0.error)
                }
            }
        },
        LimitConsumer("DataRequest.responseData") { stage, path in
            await called { answer in stage.get(path).responseData(queue: stage.handlers) { answer($0.error) }
            }
        },
        LimitConsumer("DataRequest.responseString") { stage, path in
            await called { answer in
                stage.get(path).responseString(queue: stage.handlers) { answer($0.error) }
            }
        },
        LimitConsumer("DataRequest.responseJSON") { stage, path in
            await called { answer in deprecatedJSON(of: stage.get(path), stage) { answer($0) } }
        },
        LimitConsumer("DataRequest.responseDecodable") { stage, path in
            await called { answer in
                stage.get(path).responseDecodable(of: String.self, queue: stage.handlers) {
                    answer($0.error)
                }
            }
        },
        LimitConsumer("DataRequest.serializingData") { stage, path in
            await stage.get(path).serializingData().response.error
        },
        LimitConsumer("DataRequest.serializingData", "its value") { stage, path in
            _ = try await stage.get(path).serializingData().value
            return nil
        },
        LimitConsumer("DataRequest.serializingData", "its result") { stage, path in
            _ = try await stage.get(path).serializingData().result.get()
            return nil
        },
        LimitConsumer("DataRequest.serializingString") { stage, path in
            await stage.get(path).serializingString().response.error
        },
        LimitConsumer("DataRequest.serializingDecodable") { stage, path in
            await stage.get(path).serializingDecodable(String.self).response.error
        },
        LimitConsumer("DataRequest.serializingResponse", "ResponseSerializer") { stage, path in
            await stage.get(path).serializingResponse(using: StringResponseSerializer()).response.error
        },
        LimitConsumer("DataRequest.serializingResponse", "DataResponseSerializerProtocol") { stage, path in
            await stage.get(path).serializingResponse(using: Plain()).response.error
        },
        LimitConsumer("DataRequest.data") { stage, path in
            let request = stage.get(path)
            let response = await request.answered()
            guard request.data?.count ?? 0 <= Limit.collected else { return nil }
            return response.error
        },
    ]

    static let uploads = [
        LimitConsumer("Session.upload", "data") { stage, path in
            await stage.session.upload(Data("a".utf8), to: stage.url(path)).serializingData().response.error
        },
        LimitConsumer("Session.upload", "file") { stage, path in
            await stage.session.upload(URL(fileURLWithPath: #filePath), to: stage.url(path))
                .serializingData().response.error
        },
        LimitConsumer("Session.upload", "stream") { stage, path in
            await stage.session.upload(InputStream(data: Data("a".utf8)), to: stage.url(path))
                .serializingData().response.error
        },
        LimitConsumer("Session.upload", "form") { stage, path in
            await stage.session.upload(
                multipartFormData: { $0.append(Data("a".utf8), withName: "a") }, to: stage.url(path)
            ).serializingData().response.error
        },
    ]
}

/// Calls the deprecated JSON handler without a warning.
private protocol AnyJSON {
    func take(
        _ request: Request, _ stage: PipelineStage, _ answer: @escaping @Sendable ((any Error)?) -> Void)
}

private struct JSONTaker: AnyJSON {
    @available(*, deprecated)
    func take(
        _ request: Request, _ stage: PipelineStage, _ answer: @escaping @Sendable ((any Error)?) -> Void
    ) {
        (request as? DataRequest)?.responseJSON(queue: stage.handlers) { answer($0.error) }
        (request as? DownloadRequest)?.responseJSON(queue: stage.handlers) { response in
            response.removeFile()
            answer(response.error)
        }
    }
}

func deprecatedJSON(
    of request: Request, _ stage: PipelineStage, _ answer: @escaping @Sendable ((any Error)?) -> Void
) {
    (JSONTaker() as any AnyJSON).take(request, stage, answer)
}
