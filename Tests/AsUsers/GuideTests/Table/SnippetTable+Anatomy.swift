// SPDX-License-Identifier: MIT

/// The walk through Alamofire's sources.
extension SnippetTable {
    static let anatomy: [Snippet] = [
        Snippet(.anatomy, at: "URLSession", 1, .tested("AnatomySnippets/theLoadingSystemAlone")),
        Snippet(.anatomy, at: "URLSession", 2, .tested("AnatomySnippets/thePipelineDoesTheSame")),
        Snippet(.anatomy, at: "Session", 1, .tested("AnatomySnippets/aSessionShowsItsParts")),
        Snippet(.anatomy, at: "Making a Session", 1, .tested("AnatomySnippets/aSessionHasTwoInitialisers")),
        Snippet(.anatomy, at: "Making a Session", 2, .tested("AnatomySnippets/aSessionHasTwoInitialisers")),
        Snippet(.anatomy, at: "All Requests", 1, .tested("AnatomySnippets/allRequestsAreReachedAtOnce")),
        Snippet(.anatomy, at: "Making a Data Request", 1, .tested("AnatomySnippets/aModifierCanThrow")),
        Snippet(.anatomy, at: "Before a Request is Sent", 1, .inside),
        Snippet(.anatomy, at: "Before a Request is Sent", 2, .inside),
        Snippet(.anatomy, at: "Making the Task", 1, .inside),
        Snippet(.anatomy, at: "Making the Task", 2, .inside),
        Snippet(.anatomy, at: "Making the Task", 3, .inside),
        Snippet(.anatomy, at: "Request.State", 1, .tested("RequestSnippets/statesAreFive")),
        Snippet(.anatomy, at: "What a Request Keeps", 1, .tested("AnatomySnippets/aRequestShowsItsParts")),
        Snippet(.anatomy, at: "RequestDelegate", 1, .tested("AnatomySnippets/aRequestsDelegateIsItsSession")),
        Snippet(.anatomy, at: "RequestTaskMap", 1, .inside),
        Snippet(.anatomy, at: "What a Request Opens", 1, .tested("AnatomySnippets/aRequestIsHeldAndEnded")),
        Snippet(
            .anatomy, at: "Extensions of Request", 1,
            .tested("AnatomySnippets/aRequestIsHashableAndDescribed")),
        Snippet(.anatomy, at: "RequestAdapter", 1, .tested("InterceptorSnippets/anAdapterHasOneFunction")),
        Snippet(.anatomy, at: "RequestRetrier", 1, .tested("InterceptorSnippets/aRetrierHasOneFunction")),
        Snippet(.anatomy, at: "RetryResult", 1, .tested("InterceptorSnippets/aRetrierHasFourAnswers")),
        Snippet(.anatomy, at: "RequestInterceptor", 1, .tested("AnatomySnippets/anInterceptorNeedsNothing")),
        Snippet(.anatomy, at: "HTTPMethod", 1, .tested("MakingRequestsSnippets/methodsAreTheirNames")),
        Snippet(.anatomy, at: "HTTPHeaders", 1, .tested("EncodingAnatomySnippets/headersAreLiterals")),
        Snippet(.anatomy, at: "HTTPHeaders", 2, .tested("EncodingAnatomySnippets/headersHaveDefaults")),
        Snippet(.anatomy, at: "HTTPHeaders", 3, .tested("EncodingAnatomySnippets/threeTypesHaveHeaders")),
        Snippet(.anatomy, at: "URLConvertible", 1, .tested("AnatomySnippets/threeTypesConvertToURLs")),
        Snippet(.anatomy, at: "URLConvertible", 2, .tested("AnatomySnippets/threeTypesConvertToURLs")),
        Snippet(.anatomy, at: "URLConvertible", 3, .tested("RoutingSnippets/threeTypesAreURLs")),
        Snippet(
            .anatomy, at: "URLRequestConvertible", 1, .tested("AnatomySnippets/aTypeConvertsToAURLRequest")),
        Snippet(.anatomy, at: "URLRequestConvertible", 2, .tested("RoutingSnippets/aURLRequestIsARequest")),
        Snippet(.anatomy, at: "URLRequestConvertible", 3, .tested("RoutingSnippets/aRouterHasParameters")),
        Snippet(
            .anatomy, at: "ParameterEncoding", 1, .tested("EncodingAnatomySnippets/anEncodingIsAFunction")),
        Snippet(
            .anatomy, at: "ParameterEncoding", 2, .tested("EncodingAnatomySnippets/urlEncodingHasOptions")),
        Snippet(
            .anatomy, at: "ParameterEncoding", 3, .tested("EncodingAnatomySnippets/jsonEncodingHasOptions")),
        Snippet(.anatomy, at: "ParameterEncoder", 1, .tested("EncodingAnatomySnippets/anEncoderIsAFunction")),
        Snippet(
            .anatomy, at: "ParameterEncoder", 2,
            .tested("EncodingAnatomySnippets/aJSONEncoderThatFailsSaysSo")),
        Snippet(
            .anatomy, at: "ParameterEncoder", 3, .tested("EncodingAnatomySnippets/aFormHasThreeDestinations")),
        Snippet(
            .anatomy, at: "ParameterEncoder", 4, .tested("EncodingAnatomySnippets/aFormNeedsAURLAndAMethod")),
        Snippet(
            .anatomy, at: "Notifications", 1, .tested("EncodingAnatomySnippets/notificationsTellOfARequest")),
        Snippet(
            .anatomy, at: "Notifications", 2, .tested("EncodingAnatomySnippets/notificationsTellOfARequest")),
        Snippet(
            .anatomy, at: "Notifications", 3, .tested("EncodingAnatomySnippets/notificationsAreAMonitor")),
        Snippet(.anatomy, at: "Protected", 1, .inside),
        Snippet(.anatomy, at: "Protected", 2, .inside),
        Snippet(.anatomy, at: "Protected", 3, .inside),
        Snippet(.anatomy, at: "Protected", 4, .inside),
        Snippet(.anatomy, at: "Protected", 5, .inside),
        Snippet(.anatomy, at: "Protected", 6, .inside),
        Snippet(.anatomy, at: "EventMonitor", 1, .tested("EventMonitorSnippets/aMonitorLogs")),
        Snippet(.anatomy, at: "EventMonitor", 2, .tested("EncodingAnatomySnippets/monitorsAreComposed")),
        Snippet(.anatomy, at: "Result", 1, .tested("EncodingAnatomySnippets/aResultCanBeAnAFResult")),
        Snippet(.anatomy, at: "Result", 2, .inside),
        Snippet(.anatomy, at: "Result", 3, .inside),
        Snippet(.anatomy, at: "Result", 4, .inside),
        Snippet(.anatomy, at: "Result", 5, .inside),
        Snippet(.anatomy, at: "Result", 6, .inside),
        Snippet(.anatomy, at: "Result", 7, .inside),
        Snippet(.anatomy, at: "Response", 1, .tested("EncodingAnatomySnippets/aResponseIsMadeOfSixParts")),
        Snippet(.anatomy, at: "Response", 2, .tested("TransferSnippets/aDownloadsResponseHasEightParts")),
        Snippet(.anatomy, at: "AFError", 1, .tested("AnatomySnippets/anErrorHasReasons")),
        Snippet(.anatomy, at: "AFError", 2, .tested("AnatomySnippets/anErrorIsAnAFError")),
        Snippet(.anatomy, at: "DataRequest", 1, .inside),
        Snippet(.anatomy, at: "DataRequest", 2, .tested("EncodingAnatomySnippets/anEncodingIsAFunction")),
        Snippet(.anatomy, at: "DataRequest", 3, .inside),
        Snippet(
            .anatomy, at: "DataRequest", 4, .tested("MakingRequestsSnippets/everyPartOfARequestHasAParameter")
        ),
        Snippet(.anatomy, at: "DataRequest", 5, .tested("MakingRequestsSnippets/aRequestCanBeMadeElsewhere")),
        Snippet(.anatomy, at: "Perform", 1, .inside),
        Snippet(.anatomy, at: "Perform", 2, .inside),
        Snippet(.anatomy, at: "Perform", 3, .inside),
        Snippet(.anatomy, at: "Perform", 4, .inside),
        Snippet(.anatomy, at: "RedirectHandler", 1, .tested("PolicySnippets/aRedirectorIsGivenToARequest")),
        Snippet(.anatomy, at: "RedirectHandler", 2, .tested("PolicySnippets/aRedirectorBehavesInThreeWays")),
        Snippet(.anatomy, at: "RedirectHandler", 3, .inside),
        Snippet(
            .anatomy, at: "CachedResponseHandler", 1,
            .tested("HandlerProtocolSnippets/aHandlerChangesWhatIsCached")),
        Snippet(.anatomy, at: "CachedResponseHandler", 2, .inside),
        Snippet(.anatomy, at: "Ending a Request", 1, .inside),
        Snippet(.anatomy, at: "Ending a Request", 2, .inside),
        Snippet(.anatomy, at: "Ending a Request", 3, .inside),
        Snippet(.anatomy, at: "Ending a Request", 4, .inside),
        Snippet(
            .anatomy, at: "Serializers", 1, .tested("EncodingAnatomySnippets/aSerializerForEachKindOfRequest")
        ),
        Snippet(.anatomy, at: "Serializers", 2, .tested("SerializerSnippets/aHandlerTakesASerializer")),
        Snippet(
            .anatomy, at: "NetworkReachabilityManager", 1,
            .tested("ReachabilitySnippets/aStatusHasThreeCases")),
        Snippet(
            .anatomy, at: "NetworkReachabilityManager", 2,
            .tested("ReachabilitySnippets/aManagerShowsItsParts")),
        Snippet(.anatomy, at: "NetworkReachabilityManager", 3, .inside),
        Snippet(
            .anatomy, at: "NetworkReachabilityManager", 4,
            .tested("ReachabilitySnippets/aManagerIsOfAHostOrOfTheNetwork")),
        Snippet(
            .anatomy, at: "NetworkReachabilityManager", 5,
            .tested("ReachabilitySnippets/listeningIsBegunAndEnded")),
        Snippet(.anatomy, at: "NetworkReachabilityManager", 6, .inside),
        Snippet(
            .anatomy, at: "NetworkReachabilityManager", 7,
            .tested("ReachabilitySnippets/listeningIsBegunAndEnded")),
    ]
}
