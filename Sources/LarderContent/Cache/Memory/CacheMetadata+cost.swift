import LarderHTTP

extension CacheMetadata {
  /// The approximate size of the metadata in memory in bytes, including their parsed rules.
  package var memoryCost: Int {
    var cost = 512 + url.utf8.count + CacheMetadata.cost(fields) + CacheMetadata.cost(selecting)
    for group in groups { cost += 32 + group.name.utf8.count + group.generation.utf8.count }
    for variant in variants {
      cost += 96 + variant.key.utf8.count + CacheMetadata.cost(variant.selecting) + (variant.etag?.utf8.count ?? 0)
      for name in variant.names { cost += 16 + name.utf8.count }
    }
    if case .parts(let ranges, _) = content { cost += 16 * ranges.count }
    return cost
  }

  /// A name may be stored twice, as given and in lower case.
  private static func cost(_ fields: HTTPFields) -> Int {
    fields.reduce(0) { $0 + 48 + 2 * $1.name.rawName.utf8.count + $1.value.utf8.count }
  }
}
