@_spi(Stores) import LarderCore
import LarderHTTP
public import LarderOData
import LarderODataXML

extension ODataConversation {
  /// The service's model. It is read once for all callers and kept with the conversation.
  ///
  /// Throws ``ODataServiceError``; the cause of a `malformedResponse` is the `MetadataError` with its place.
  public func metadata() async throws(ODataServiceError) -> EdmModel {
    if let model = state.withLock({ $0.model }) { return model }
    return try await metadataFetch.value { [self] in
      if let model = state.withLock({ $0.model }) { return .success(model) }
      do throws(ODataServiceError) { return .success(try await fetchMetadata()) } catch { return .failure(error) }
    }
  }

  /// Gives the conversation a model that is already known, such as one stored during an earlier run.
  public func use(_ model: EdmModel) {
    let rules = ModelRules(model, root)
    state.withLock { $0.use(model, rules) }
  }

  /// The metadata document as the service sent it, with its fields, for callers that store it.
  public func metadataDocument() async throws(ODataServiceError) -> ODataSingleResponse {
    try await send(ODataSingleRequest(.read, "$metadata"), operation: "metadata")
  }

  private func fetchMetadata() async throws(ODataServiceError) -> EdmModel {
    let response = try await metadataDocument()
    do throws(MetadataError) {
      let model = try EdmModel.read(response.payloadBytes, limits: options.metadataLimits)
      use(model)
      return model
    } catch {
      throw ODataServiceError(
        .malformedResponse("\(error)"), operation: "metadata", method: .get, url: response.url, cause: error,
        response: response)
    }
  }

  /// The model as far as it is known without a request.
  public var knownModel: EdmModel? { state.withLock { $0.model } }

  /// Checks requests against the restrictions of the model; nil until the model is known.
  package var requestRules: ModelRules? { state.withLock { $0.rules } }

  /// The version as far as it is known without a request: from the options, the metadata, or earlier responses.
  public var knownVersion: ODataVersion? {
    options.version ?? state.withLock { $0.model?.version ?? $0.responseVersion }
  }

  /// The version, from the metadata if no other source gives it.
  public func version() async throws(ODataServiceError) -> ODataVersion {
    if let knownVersion { return knownVersion }
    return try await metadata().version
  }

  /// Records the version that a response's fields state.
  func learnVersion(_ fields: HTTPFields) {
    let header = fields[.odataVersion] ?? fields[.dataServiceVersion]
    guard let version = header.flatMap(ODataVersion.init(header:)) else { return }
    state.withLock { state in
      // A V3 service may state 1.0 or 2.0 for simple requests: the highest number seen is closest to the truth.
      state.responseVersion = max(state.responseVersion ?? version, version)
    }
  }
}
