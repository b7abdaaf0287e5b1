import LarderHTTP
import LarderService

/// The cache keys of a request's parts.
enum RequestKeys {
  /// One a part, in order; nil where the cache takes no part. Throws where a URL cannot be made.
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

  /// Fields of a batch that say something about the batch, not about its parts.
  private static func describesBatch(_ name: HTTPFieldName) -> Bool {
    name == .accept || name == .contentType || name == .prefer || name == .contentID || name == .odataVersion
      || name == .odataMaxVersion || name == .dataServiceVersion || name == .maxDataServiceVersion
  }
}
