// SPDX-License-Identifier: MIT

// The patterns are the guide's.
// swift-format-ignore-file: UseLetInEveryBoundCaseVariable

import Dispatch
import Foundation
import Lupine
import Testing

/// Validation, and the six handlers of responses.
@Suite struct ResponseSnippets {
    struct HTTPBinResponse: Decodable { let url: String }

    @available(*, deprecated)
    @Test func validationIsAutomatic() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                AF.request("\(httpbin)/get").validate().responseJSON { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect(response.error == nil)
            let refused = await AF.request("\(httpbin)/status/404").validate().serializingData().response
            #expect(refused.error?.responseCode == 404)
            let unwanted = await AF.request("\(httpbin)/html", headers: [.accept("application/json")])
                .validate().serializingData().response
            #expect(unwanted.error?.acceptableContentTypes == ["application/json"])
        }
    }

    @Test func validationIsManual() async throws {
        try await HTTPBin.serve { httpbin in
            for (path, isValid) in [("get", true), ("status/500", false), ("html", false)] {
                let response: AFDataResponse<Data> = await handed { hand in
                    AF.request("\(httpbin)/\(path)")
                        .validate(statusCode: 200..<300)
                        .validate(contentType: ["application/json"])
                        .responseData { response in
                            switch response.result {
                            case .success:
                                print("Validation Successful")
                            case let .failure(error):
                                print(error)
                            }
                            hand(response)
                        }
                }
                #expect(response.result.isValid == isValid, "\(path)")
            }
        }
    }

    @available(*, deprecated)
    @Test func aHandlerIsAddedToTheRequest() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                AF.request("\(httpbin)/get").responseJSON { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect((response.value as? [String: Any])?["url"] as? String == "\(httpbin)/get")
        }
    }

    /// The declarations of the six handlers with every parameter, on one request: each is called once, in their order.
    @available(*, deprecated)
    @Test func thereAreSixHandlers() async throws {
        try await HTTPBin.serve { httpbin in
            let queue = DispatchQueue(label: "six handlers")
            let (called, calls) = AsyncStream.makeStream(of: String.self)
            AF.request("\(httpbin)/get")
                // Response Handler - Unserialized Response
                .response(
                    queue: queue, completionHandler: { (_: AFDataResponse<Data?>) in calls.yield("response") }
                )
                // Response Serializer Handler - Serialize using the passed Serializer
                .response(
                    queue: queue,
                    responseSerializer: DataResponseSerializer(),
                    completionHandler: { (_: AFDataResponse<Data>) in calls.yield("serializer") }
                )
                // Response Data Handler - Serialized into Data
                .responseData(
                    queue: queue,
                    completionHandler: { (_: AFDataResponse<Data>) in calls.yield("data") }
                )
                // Response String Handler - Serialized into String
                .responseString(
                    queue: queue,
                    encoding: nil,
                    completionHandler: { (_: AFDataResponse<String>) in calls.yield("string") }
                )
                // Response JSON Handler - Serialized into Any Using JSONSerialization
                .responseJSON(
                    queue: queue,
                    options: .allowFragments,
                    completionHandler: { (_: AFDataResponse<Any>) in calls.yield("JSON") }
                )
                // Response Decodable Handler - Serialized into Decodable Type
                .responseDecodable(
                    of: HTTPBinResponse.self,
                    queue: queue,
                    decoder: JSONDecoder(),
                    completionHandler: { (_: AFDataResponse<HTTPBinResponse>) in
                        calls.yield("decodable")
                        calls.finish()
                    })
            var all: [String] = []
            for await call in called { all.append(call) }
            #expect(all == ["response", "serializer", "data", "string", "JSON", "decodable"])
        }
    }

    @Test func aResponseIsNotSerialized() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data?> = await handed { hand in
                AF.request("\(httpbin)/get").response { response in
                    debugPrint("Response: \(response)")
                    hand(response)
                }
            }
            let data = try response.result.get()
            #expect(data?.isEmpty == false)
            // This handler does not validate.
            let missing: AFDataResponse<Data?> = await handed { hand in
                AF.request("\(httpbin)/status/404").response { hand($0) }
            }
            #expect(missing.error == nil)
            #expect(missing.response?.statusCode == 404)
        }
    }

    @Test func aResponseIsData() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Data> = await handed { hand in
                AF.request("\(httpbin)/get").responseData { response in
                    debugPrint("Response: \(response)")
                    hand(response)
                }
            }
            #expect(response.value == response.data)
            #expect(response.value?.isEmpty == false)
        }
    }

    @Test func aResponseIsText() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<String> = await handed { hand in
                AF.request("\(httpbin)/get").responseString { response in
                    debugPrint("Response: \(response)")
                    hand(response)
                }
            }
            #expect(response.value?.contains("\(httpbin)/get") == true)
        }
    }

    @available(*, deprecated)
    @Test func aResponseIsJSON() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                AF.request("\(httpbin)/get").responseJSON { response in
                    debugPrint("Response: \(response)")
                    hand(response)
                }
            }
            #expect(response.value is [String: Any])
        }
    }

    @Test func aResponseIsDecodable() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<HTTPBinResponse> = await handed { hand in
                AF.request("\(httpbin)/get").responseDecodable(of: HTTPBinResponse.self) { response in
                    debugPrint("Response: \(response)")
                    hand(response)
                }
            }
            #expect(response.value?.url == "\(httpbin)/get")
        }
    }

    @available(*, deprecated)
    @Test func handlersAreChained() async throws {
        try await HTTPBin.serve { httpbin in
            let (called, calls) = AsyncStream.makeStream(of: String.self)
            AF.request("\(httpbin)/get")
                .responseString { response in
                    print("Response String: \(String(describing: response.value))")
                    calls.yield("string")
                }
                .responseJSON { response in
                    print("Response JSON: \(String(describing: response.value))")
                    calls.yield("JSON")
                    calls.finish()
                }
            var all: [String] = []
            for await call in called { all.append(call) }
            #expect(all == ["string", "JSON"])
        }
    }

    @available(*, deprecated)
    @Test func aHandlerHasAQueue() async throws {
        try await HTTPBin.serve { httpbin in
            let quality: DispatchQoS = await handed { hand in
                let utilityQueue = DispatchQueue.global(qos: .utility)

                AF.request("\(httpbin)/get").responseJSON(queue: utilityQueue) { response in
                    print("Executed on utility queue.")
                    debugPrint(response)
                    dispatchPrecondition(condition: .onQueue(utilityQueue))
                    hand(utilityQueue.qos)
                }
            }
            #expect(quality == .utility)
        }
    }
}

extension Result {
    /// Whether the result is a success.
    var isValid: Bool {
        switch self {
        case .success: true
        case .failure: false
        }
    }
}
