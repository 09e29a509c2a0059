// SPDX-License-Identifier: MIT

/// The guide to the use of Alamofire 5.
extension SnippetTable {
    static let usage: [Snippet] = [
        Snippet(.usage, at: "Making Requests", 1, .tested("MakingRequestsSnippets/aTextIsEnough")),
        Snippet(
            .usage, at: "Making Requests", 2,
            .tested("MakingRequestsSnippets/everyPartOfARequestHasAParameter")),
        Snippet(
            .usage, at: "Making Requests", 3, .tested("MakingRequestsSnippets/aRequestCanBeMadeElsewhere")),
        Snippet(.usage, at: "HTTP Methods", 1, .tested("MakingRequestsSnippets/methodsAreTheirNames")),
        Snippet(.usage, at: "HTTP Methods", 2, .tested("MakingRequestsSnippets/aMethodIsAParameter")),
        Snippet(.usage, at: "HTTP Methods", 3, .tested("MakingRequestsSnippets/aURLRequestHasAMethod")),
        Snippet(.usage, at: "HTTP Methods", 4, .tested("MakingRequestsSnippets/aMethodCanBeAdded")),
        Snippet(
            .usage, at: "Setting Other URLRequest Properties", 1,
            .tested("MakingRequestsSnippets/aModifierChangesTheRequest")),
        Snippet(
            .usage, at: "Setting Other URLRequest Properties", 2,
            .tested("MakingRequestsSnippets/aModifierCanTrail")),
        Snippet(
            .usage, at: "Request Parameters and Parameter Encoders", 1,
            .tested("ParameterEncoderSnippets/parametersAreEncodable")),
        Snippet(
            .usage, at: "GET Request With URL-Encoded Parameters", 1,
            .tested("ParameterEncoderSnippets/aGETHasThemInItsQuery")),
        Snippet(
            .usage, at: "POST Request With URL-Encoded Parameters", 1,
            .tested("ParameterEncoderSnippets/aPOSTHasThemInItsBody")),
        Snippet(
            .usage, at: "Configuring the Sorting of Encoded Values", 1,
            .tested("ParameterEncoderSnippets/pairsKeepTheirOrderIfTheyShould")),
        Snippet(
            .usage, at: "Configuring the Encoding of Array Parameters", 1,
            .tested("ParameterEncoderSnippets/arraysHaveBracketsOrNone")),
        Snippet(
            .usage, at: "Configuring the Encoding of Bool Parameters", 1,
            .tested("ParameterEncoderSnippets/booleansAreNumbersOrWords")),
        Snippet(
            .usage, at: "Configuring the Encoding of Data Parameters", 1,
            .tested("ParameterEncoderSnippets/dataIsBase64OrWhatAClosureMakes")),
        Snippet(
            .usage, at: "Configuring the Encoding of Date Parameters", 1,
            .tested("ParameterEncoderSnippets/datesHaveManyForms")),
        Snippet(
            .usage, at: "Configuring the Encoding of Coding Keys", 1,
            .tested("ParameterEncoderSnippets/keysHaveManyStyles")),
        Snippet(
            .usage, at: "Configuring the Encoding of Spaces", 1,
            .tested("ParameterEncoderSnippets/blanksAreEscapedOrReplaced")),
        Snippet(
            .usage, at: "POST Request with JSON-Encoded Parameters", 1,
            .tested("ParameterEncoderSnippets/aBodyCanBeJSON")),
        Snippet(
            .usage, at: "Configuring a Custom JSONEncoder", 1,
            .tested("ParameterEncoderSnippets/theJSONEncoderCanBeOnesOwn")),
        Snippet(
            .usage, at: "Manual Parameter Encoding of URLRequests", 1,
            .tested("ParameterEncoderSnippets/parametersCanBeEncodedByHand")),
        Snippet(.usage, at: "HTTP Headers", 1, .tested("HeaderSnippets/headersAreADictionary")),
        Snippet(.usage, at: "HTTP Headers", 2, .tested("HeaderSnippets/headersAreAnArray")),
        Snippet(.usage, at: "Automatic Validation", 1, .tested("ResponseSnippets/validationIsAutomatic")),
        Snippet(.usage, at: "Manual Validation", 1, .tested("ResponseSnippets/validationIsManual")),
        Snippet(.usage, at: "Response Handling", 1, .tested("ResponseSnippets/aHandlerIsAddedToTheRequest")),
        Snippet(.usage, at: "Response Handling", 2, .tested("ResponseSnippets/thereAreSixHandlers")),
        Snippet(.usage, at: "Response Handler", 1, .tested("ResponseSnippets/aResponseIsNotSerialized")),
        Snippet(.usage, at: "Response Data Handler", 1, .tested("ResponseSnippets/aResponseIsData")),
        Snippet(.usage, at: "Response String Handler", 1, .tested("ResponseSnippets/aResponseIsText")),
        Snippet(.usage, at: "Response JSON Handler", 1, .tested("ResponseSnippets/aResponseIsJSON")),
        Snippet(
            .usage, at: "Response Decodable Handler", 1, .tested("ResponseSnippets/aResponseIsDecodable")),
        Snippet(.usage, at: "Chained Response Handlers", 1, .tested("ResponseSnippets/handlersAreChained")),
        Snippet(.usage, at: "Response Handler Queue", 1, .tested("ResponseSnippets/aHandlerHasAQueue")),
        Snippet(
            .usage, at: "HTTP Basic Authentication", 1, .tested("AuthenticationSnippets/basicAuthentication")),
        Snippet(
            .usage, at: "Authentication with URLCredential", 1,
            .tested("AuthenticationSnippets/authenticationWithACredential")),
        Snippet(
            .usage, at: "Manual Authentication", 1, .tested("AuthenticationSnippets/authenticationByHand")),
        Snippet(
            .usage, at: "Downloading Data to a File", 1,
            .tested("DownloadSnippets/aDownloadIsReadFromItsFile")),
        Snippet(
            .usage, at: "Download File Destination", 1, .tested("DownloadSnippets/aDownloadHasADestination")),
        Snippet(
            .usage, at: "Download File Destination", 2, .tested("DownloadSnippets/aDestinationIsSuggested")),
        Snippet(.usage, at: "Download Progress", 1, .tested("DownloadSnippets/aDownloadTellsHowFarItIs")),
        Snippet(.usage, at: "Download Progress", 2, .tested("DownloadSnippets/progressHasAQueue")),
        Snippet(
            .usage, at: "Canceling and Resuming a Download", 1,
            .tested("DownloadSnippets/aDownloadIsCancelledAndResumed")),
        Snippet(.usage, at: "Uploading Data", 1, .tested("UploadSnippets/dataIsUploaded")),
        Snippet(.usage, at: "Uploading a File", 1, .tested("UploadSnippets/aFileIsUploaded")),
        Snippet(.usage, at: "Uploading Multipart Form Data", 1, .tested("UploadSnippets/aFormIsUploaded")),
        Snippet(.usage, at: "Upload Progress", 1, .tested("UploadSnippets/anUploadTellsHowFarItIs")),
        Snippet(.usage, at: "Streaming Data from a Server", 1, .tested("StreamSnippets/aStreamHasItsParts")),
        Snippet(.usage, at: "Streaming Data from a Server", 2, .tested("StreamSnippets/aStreamHasItsParts")),
        Snippet(.usage, at: "Streaming Data from a Server", 3, .tested("StreamSnippets/aStreamHasItsParts")),
        Snippet(.usage, at: "Streaming Data", 1, .tested("StreamSnippets/aStreamHasAQueue")),
        Snippet(.usage, at: "Streaming Data", 2, .tested("StreamSnippets/dataIsStreamed")),
        Snippet(.usage, at: "Streaming Strings", 1, .tested("StreamSnippets/textHasAQueue")),
        Snippet(.usage, at: "Streaming Strings", 2, .tested("StreamSnippets/textIsStreamed")),
        Snippet(.usage, at: "Streaming Decodable Values", 1, .tested("StreamSnippets/decodingHasOptions")),
        Snippet(.usage, at: "Streaming Decodable Values", 2, .tested("StreamSnippets/valuesAreStreamed")),
        Snippet(
            .usage, at: "Producing an InputStream", 1, .tested("InputStreamSnippets/aStreamHasABufferSize")),
        Snippet(.usage, at: "Producing an InputStream", 2, .tested("InputStreamSnippets/aStreamIsRead")),
        Snippet(.usage, at: "Cancellation", 1, .tested("StreamSnippets/aStreamIsCancelledByItsRequest")),
        Snippet(
            .usage, at: "Cancellation", 2, .tested("StreamSnippets/aStreamIsCancelledByASerializersError")),
        Snippet(.usage, at: "Cancellation", 3, .tested("StreamSnippets/aStreamIsCancelledByAThrownError")),
        Snippet(.usage, at: "Cancellation", 4, .tested("StreamSnippets/aStreamIsCancelledByItself")),
        Snippet(.usage, at: "URLSessionTaskMetrics", 1, .tested("StatisticsSnippets/aResponseHasMetrics")),
        Snippet(.usage, at: "cURL Command Output", 1, .tested("StatisticsSnippets/aRequestIsACommandOfCurl")),
    ]
}
