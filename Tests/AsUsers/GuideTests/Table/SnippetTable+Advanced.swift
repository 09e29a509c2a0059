// SPDX-License-Identifier: MIT

/// The guide to advanced use, in both of its editions.
extension SnippetTable {
    static let advanced: [Snippet] = [
        Snippet(
            .advanced, .laterAdvanced, at: "Session", 1,
            .tested("SessionSnippets/aRequestOfTheDefaultSession")),
        Snippet(
            .advanced, .laterAdvanced, at: "Session", 2, .tested("SessionSnippets/theDefaultSessionIsAF")),
        Snippet(
            .advanced, .laterAdvanced, at: "Creating Custom Session Instances", 1,
            .tested("SessionSnippets/everyPartOfASessionHasAParameter")),
        Snippet(
            .advanced, .laterAdvanced, at: "Creating a Session With a URLSessionConfiguration", 1,
            .tested("SessionSnippets/aConfigurationMakesASession")),
        Snippet(
            .advanced, .laterAdvanced, at: "SessionDelegate", 1,
            .tested("SessionSnippets/aDelegateHasAFileManager")),
        Snippet(
            .advanced, .laterAdvanced, at: "startRequestsImmediately", 1,
            .tested("SessionSnippets/requestsCanWaitToBeResumed")),
        Snippet(
            .advanced, .laterAdvanced, at: "A Session's DispatchQueues", 1,
            .tested("SessionSnippets/aSessionHasThreeQueues")),
        Snippet(
            .advanced, .laterAdvanced, at: "Adding a RequestInterceptor", 1,
            .tested("PolicySnippets/aRetryPolicyIsGivenToASession")),
        Snippet(
            .advanced, .laterAdvanced, at: "Adding a ServerTrustManager", 1,
            .tested("TrustSnippets/aManagerIsGivenToASession")),
        Snippet(
            .advanced, .laterAdvanced, at: "Adding a RedirectHandler", 1,
            .tested("PolicySnippets/aRedirectorIsGivenToASession")),
        Snippet(
            .advanced, .laterAdvanced, at: "Adding a CachedResponseHandler", 1,
            .tested("PolicySnippets/aCacherIsGivenToASession")),
        Snippet(
            .advanced, .laterAdvanced, at: "Adding EventMonitors", 1,
            .tested("SessionSnippets/monitorsAreGivenToASession")),
        Snippet(
            .advanced, .laterAdvanced, at: "Creating Instances From URLSessions", 1,
            .tested("SessionSnippets/aSessionStandsOnAURLSession")),
        Snippet(.advanced, .laterAdvanced, at: "State", 1, .tested("RequestSnippets/statesAreFive")),
        Snippet(.advanced, .laterAdvanced, at: "Progress", 1, .tested("RequestSnippets/progressIsTold")),
        Snippet(
            .advanced, .laterAdvanced, at: "Handling Redirects", 1,
            .tested("PolicySnippets/aRedirectorIsGivenToARequest")),
        Snippet(
            .advanced, .laterAdvanced, at: "Customizing Caching", 1,
            .tested("PolicySnippets/aCacherIsGivenToARequest")),
        Snippet(
            .advanced, .laterAdvanced, at: "Credentials", 1,
            .tested("RequestSnippets/aNameAndAPasswordAnswerAChallenge")),
        Snippet(
            .advanced, .laterAdvanced, at: "Credentials", 2,
            .tested("RequestSnippets/aCredentialAnswersAChallenge")),
        Snippet(
            .advanced, .laterAdvanced, at: "URLSessionTaskMetrics", 1,
            .tested("RequestSnippets/everyTaskHasMetrics")),
        Snippet(
            .advanced, .laterAdvanced, at: "Validation of a DataRequest", 1,
            .tested("RequestSnippets/aValidationIsAClosure")),
        Snippet(
            .advanced, .laterAdvanced, at: "Validation of a DataRequest", 2,
            .tested("RequestSnippets/aValidationTrails")),
        Snippet(
            .laterAdvanced, at: "Validation of a DataStreamRequest", 1,
            .tested("TransferSnippets/aStreamsValidationIsAClosure")),
        Snippet(
            .laterAdvanced, at: "Validation of a DataStreamRequest", 2,
            .tested("TransferSnippets/aStreamsValidationTrails")),
        Snippet(
            .advanced, .laterAdvanced, at: "Cancellation of a DownloadRequest", 1,
            .tested("TransferSnippets/aCancelledDownloadGivesWhatItHas")),
        Snippet(
            .advanced, .laterAdvanced, at: "Validation of a DownloadRequest", 1,
            .tested("TransferSnippets/aDownloadsValidationHasItsFile")),
        Snippet(
            .advanced, .laterAdvanced, at: "RequestAdapter", 1,
            .tested("InterceptorSnippets/anAdapterHasOneFunction")),
        Snippet(
            .advanced, .laterAdvanced, at: "RequestAdapter", 2,
            .tested("InterceptorSnippets/anAdapterAddsAToken")),
        Snippet(
            .advanced, .laterAdvanced, at: "RequestRetrier", 1,
            .tested("InterceptorSnippets/aRetrierHasOneFunction")),
        Snippet(
            .advanced, .laterAdvanced, at: "RequestRetrier", 2,
            .tested("InterceptorSnippets/aRetrierHasFourAnswers")),
        Snippet(
            .advanced, .laterAdvanced, at: "RequestRetrier", 3,
            .tested("InterceptorSnippets/aRetrierWaitsLongerEachTime")),
        Snippet(
            .laterAdvanced, at: "Using Multiple RequestInterceptors", 1,
            .tested("InterceptorSnippets/interceptorsAreMadeOfSeveral")),
        Snippet(
            .laterAdvanced, at: "AuthenticationInterceptor", 1,
            .tested("AuthenticatorSnippets/aCredentialSaysWhenItIsToBeRefreshed")),
        Snippet(
            .laterAdvanced, at: "AuthenticationInterceptor", 2,
            .tested("AuthenticatorSnippets/anAuthenticatorRefreshes")),
        Snippet(
            .laterAdvanced, at: "AuthenticationInterceptor", 3,
            .tested("AuthenticatorSnippets/anInterceptorHasACredential")),
        Snippet(
            .advanced, .laterAdvanced, at: "ServerTrustEvaluating", 1,
            .tested("HandlerProtocolSnippets/anEvaluatorJudgesAServer")),
        Snippet(
            .advanced, .laterAdvanced, at: "ServerTrustManager", 1,
            .tested("TrustSnippets/everyHostHasItsEvaluator")),
        Snippet(
            .advanced, .laterAdvanced, at: "Subclassing Server Trust Policy Manager", 1,
            .tested("HandlerProtocolSnippets/aManagerCanBeSubclassed")),
        Snippet(
            .advanced, .laterAdvanced, at: "CachedResponseHandler", 1,
            .tested("HandlerProtocolSnippets/aHandlerChangesWhatIsCached")),
        Snippet(
            .advanced, .laterAdvanced, at: "CachedResponseHandler", 2,
            .tested("PolicySnippets/aCacherBehavesInThreeWays")),
        Snippet(
            .advanced, .laterAdvanced, at: "RedirectHandler", 1,
            .tested("HandlerProtocolSnippets/aHandlerStopsARedirect")),
        Snippet(
            .advanced, .laterAdvanced, at: "RedirectHandler", 2,
            .tested("PolicySnippets/aRedirectorBehavesInThreeWays")),
        Snippet(.advanced, .laterAdvanced, at: "Logging", 1, .tested("EventMonitorSnippets/aMonitorLogs")),
        Snippet(.advanced, .laterAdvanced, at: "Logging", 2, .tested("EventMonitorSnippets/aMonitorLogs")),
        Snippet(
            .advanced, .laterAdvanced, at: "URLConvertible", 1, .tested("RoutingSnippets/threeTypesAreURLs")),
        Snippet(
            .advanced, .laterAdvanced, at: "URLRequestConvertible", 1,
            .tested("RoutingSnippets/aURLRequestIsARequest")),
        Snippet(
            .advanced, .laterAdvanced, at: "Routing Requests", 1, .tested("RoutingSnippets/aRouterIsARequest")
        ),
        Snippet(
            .advanced, .laterAdvanced, at: "Routing Requests", 2,
            .tested("RoutingSnippets/aRouterHasParameters")),
        Snippet(
            .advanced, .laterAdvanced, at: "Handling Responses Without Serialization", 1,
            .tested("SerializerSnippets/aHandlerRunsOnItsQueue")),
        Snippet(
            .advanced, .laterAdvanced, at: "ResponseSerializer", 1,
            .tested("SerializerSnippets/aSerializerHasFiveParts")),
        Snippet(
            .advanced, .laterAdvanced, at: "ResponseSerializer", 2,
            .tested("SerializerSnippets/aHandlerTakesASerializer")),
        Snippet(
            .advanced, .laterAdvanced, at: "Response Transforms", 1,
            .tested("SerializerSnippets/aResponseIsMapped")),
        Snippet(
            .advanced, .laterAdvanced, at: "Response Transforms", 2,
            .tested("SerializerSnippets/aMapCanThrow")),
        Snippet(
            .advanced, .laterAdvanced, at: "Creating a Custom Response Serializer", 1,
            .tested("SerializerSnippets/aSerializerStandsOnAnother")),
        Snippet(
            .laterAdvanced, at: "Streaming Response Handlers", 1,
            .tested("TransferSnippets/aStreamSerializerHasOneFunction")),
        Snippet(
            .laterAdvanced, at: "Streaming Response Handlers", 2,
            .tested("TransferSnippets/aStreamTakesASerializer")),
        Snippet(
            .laterAdvanced, at: "Streaming Response Handlers", 3, .tested("TransferSnippets/aStreamIsDecoded")
        ),
        Snippet(
            .laterAdvanced, at: "Streaming Response Handlers", 4,
            .tested("TransferSnippets/aStreamIsDecodedByASerializer")),
        Snippet(
            .laterAdvanced, at: "Using Alamofire with Combine", 1,
            .tested("CombineTwinSnippets/aPublisherIsATask")),
        Snippet(
            .laterAdvanced, at: "Using Alamofire with Combine", 2,
            .tested("CombineTwinSnippets/aTaskHasAResultAndAValue")),
        Snippet(
            .laterAdvanced, at: "Using Alamofire with Combine", 3,
            .tested("CombineTwinSnippets/twoRequestsAtOnce")),
        Snippet(
            .laterAdvanced, at: "Using Alamofire with Combine", 4,
            .tested("CombineTwinSnippets/oneRequestAfterTheOther")),
        Snippet(
            .advanced, .laterAdvanced, at: "Network Reachability", 1,
            .tested("ReachabilitySnippets/aManagerListens")),
    ]
}
