import LarderCore
import LarderHTTP
public import LarderOData
import LarderODataXML

extension ODataConversation {
  /// The service's model: read once, for however many callers, and kept with the conversation.
  ///
  /// Throws ``ODataServiceError``; the cause of a `malformedAnswer` is the `MetadataError` with its place.
  public func metadata() async throws(ODataServiceError) -> EdmModel {
    if let model = state.withLock({ $0.model }) { return model }
    return try await metadataFetch.value { [self] in
      if let model = state.withLock({ $0.model }) { return .success(model) }
      do throws(ODataServiceError) { return .success(try await fetchMetadata()) } catch { return .failure(error) }
    }
  }

  /// Gives the conversation a model that is known already, such as one kept from an earlier run.
  public func use(_ model: EdmModel) { state.withLock { $0.model = model } }

  /// The metadata document as the service sent it, with its fields: for those who keep it.
  public func metadataDocument() async throws(ODataServiceError) -> ODataSingleResponse {
    try await send(ODataSingleRequest(.read, "$metadata"), operation: "metadata")
  }

  private func fetchMetadata() async throws(ODataServiceError) -> EdmModel {
    let response = try await metadataDocument()
    do throws(MetadataError) {
      let model = try EdmModel.read(response.payloadBytes, limits: options.metadataLimits)
      state.withLock { $0.model = model }
      return model
    } catch {
      throw ODataServiceError(
        .malformedAnswer("\(error)"), operation: "metadata", method: .get, url: response.url, cause: error,
        response: response)
    }
  }

  /// The model as far as it is known without asking.
  public var knownModel: EdmModel? { state.withLock { $0.model } }

  /// The version as far as it is known without asking: given, from the metadata, or from earlier answers.
  public var knownVersion: ODataVersion? {
    options.version ?? state.withLock { $0.model?.version ?? $0.seenVersion }
  }

  /// The version, from the metadata where nothing else says it.
  public func version() async throws(ODataServiceError) -> ODataVersion {
    if let knownVersion { return knownVersion }
    return try await metadata().version
  }

  /// Learns from the version fields of an answer.
  func learnVersion(_ fields: HTTPFields) {
    let said = fields[.odataVersion] ?? fields[.dataServiceVersion]
    guard let version = said.flatMap(ODataVersion.init(header:)) else { return }
    state.withLock { state in
      // A V3 service answers simple requests as 1.0 or 2.0: the highest number seen is nearest to the truth.
      state.seenVersion = max(state.seenVersion ?? version, version)
    }
  }
}
