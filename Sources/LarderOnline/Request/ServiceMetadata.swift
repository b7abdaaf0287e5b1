import LarderHTTP
import LarderOData
import LarderODataXML
import LarderService
import LarderStorage

/// Loads the service's metadata into a conversation, from the cache or from the service.
enum ServiceMetadata {
  /// Gives a conversation its model. Returns true if it came from the cache.
  static func load(
    into conversation: ODataConversation, cache: TechnicalCache?, isPassive: Bool,
    report: @Sendable (LarderDiagnostic) -> Void
  ) async throws -> Bool {
    guard let cache else {
      _ = try await conversation.metadata()
      return false
    }
    let stored: StoredMetadata?
    do throws(StorageError) { stored = try await cache.metadata(scope: scope(conversation, cache)) } catch {
      if isPassive { throw ODataServiceError(error, operation: "metadata") }
      report(.cacheReadFailed(urls: [], error))
      stored = nil
    }
    if let stored {
      do throws(MetadataError) {
        conversation.use(try EdmModel.read(stored.payload, limits: conversation.options.metadataLimits))
        return true
      } catch {
        if isPassive {
          throw ODataServiceError(.metadataUnreadable(error.description), operation: "metadata", cause: error)
        }
        report(.metadataUnreadable(reason: error.description))
      }
    }
    // A passive store sends nothing, and needs no model to return responses from the cache.
    if isPassive { return false }
    let document = try await conversation.metadataDocument()
    do throws(StorageError) { try await take(document, into: conversation, cache: cache) } catch {
      report(.cacheWriteFailed(urls: [document.url], error))
    }
    // Parses the document that was just set, or throws the reason why it cannot be read.
    _ = try await conversation.metadata()
    return false
  }

  /// Makes a document the conversation's model and caches it, unless another origin sent it. A document that cannot be read
  /// is ignored.
  static func take(
    _ document: ODataSingleResponse, into conversation: ODataConversation, cache: TechnicalCache
  ) async throws(StorageError) {
    let model: EdmModel
    do throws(MetadataError) {
      model = try EdmModel.read(document.payloadBytes, limits: conversation.options.metadataLimits)
    } catch { return }
    conversation.use(model)
    guard !document.sender.isOtherOrigin else { return }
    try await cache.storeMetadata(
      StoredMetadata(fields: document.fields, payload: document.payloadBytes), scope: scope(conversation, cache))
  }

  /// The owner of the metadata: services show different users different models.
  private static func scope(_ conversation: ODataConversation, _ cache: TechnicalCache) -> [UInt8] {
    cache.keys.key(url: "", identity: conversation.identity, fields: [:]).scope
  }
}
