import LarderHTTP
import LarderService

/// Computes the cache keys of a request's parts.
enum RequestKeys {
  /// One key for each part, in order; nil if the part does not use the cache. Throws if a URL cannot be built.
  static func keys(
    of request: ODataRequest, conversation: ODataConversation, maker: CacheKeyMaker
  ) throws(ODataServiceError) -> [CacheKey?] {
    switch request {
    case .single(let single): return [try key(of: single, under: [:], conversation, maker)]
    case .batch(let batch):
      let inherited = HTTPFields(batch.fields.filter { !describesBatch($0.name) })
      var keys: [CacheKey?] = []
      for item in batch.items {
        guard case .single(let single) = item else {
          keys.append(nil)
          continue
        }
        keys.append(try key(of: single, under: inherited, conversation, maker))
      }
      return keys
    }
  }

  private static func key(
    of request: ODataSingleRequest, under inherited: HTTPFields, _ conversation: ODataConversation,
    _ maker: CacheKeyMaker
  ) throws(ODataServiceError) -> CacheKey? {
    guard request.isCacheable else { return nil }
    var fields = request.fields
    for field in inherited { fields.setDefault(field.name, field.value) }
    let url = try conversation.url(of: request)
    return maker.key(url: url, identity: conversation.identity, fields: fields)
  }

  /// Whether a field of a batch describes the batch itself, not its parts.
  private static func describesBatch(_ name: HTTPFieldName) -> Bool {
    name == .accept || name == .contentType || name == .prefer || name == .contentID || name == .odataVersion
      || name == .odataMaxVersion || name == .dataServiceVersion || name == .maxDataServiceVersion
  }
}
