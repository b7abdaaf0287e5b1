package import HTTPCore
import Storage

/// The responses of one URL that differ by fields of the request (RFC 9111 §4.1).
package enum VariantIndex {
  /// How many variants a URL may have; the oldest make room for new ones.
  package static let limit = 64

  /// The key of a variant's entry: the URL's key and a digest of the selecting fields.
  ///
  /// The same `Vary` and the same normalised values give the same key, so that a newer response replaces an older one.
  package static func key(under key: String, names: [String], selecting: HTTPFields) -> String {
    var text: [UInt8] = []
    for name in names {
      text += name.utf8
      text.append(0x3A)
      for value in selecting.values(of: HTTPFieldName(name)) {
        // What is absent and what is empty differ.
        text.append(0x3D)
        text += value.utf8
      }
      text.append(0x0A)
    }
    return key + " ~" + Digest.hexadecimal(Digest.sha256(text).prefix(16))
  }

  /// Describes a response as a variant; nil where its `Vary` is absent, empty or `*`.
  ///
  /// With `Accept-Language` among the names, ``CacheVariant/selecting`` also tells the response's `Content-Language`:
  /// another request that prefers that language is answered with it too.
  package static func variant(of rules: StoredRules, request: HTTPFields, under key: String) -> CacheVariant? {
    guard let vary = rules.vary, !vary.isEmpty, !vary.matchesNothing else { return nil }
    var selecting = vary.selecting(request)
    let key = VariantIndex.key(under: key, names: vary.names, selecting: selecting)
    if let language = rules.language, !language.isEmpty, vary.names.contains("accept-language"),
      !vary.names.contains("content-language")
    {
      selecting.append("Content-Language", language)
    }
    return CacheVariant(
      key: key, names: vary.names, selecting: selecting, etag: rules.etag,
      date: rules.date.map(StoredRules.milliseconds) ?? rules.responseTime)
  }

  /// The variants that a request selects, the latest first.
  package static func matching(_ variants: [CacheVariant], _ request: HTTPFields) -> [CacheVariant] {
    var normalised: [[String]: HTTPFields] = [:]
    var found: [CacheVariant] = []
    for variant in variants {
      let presented = normalised[variant.names] ?? Vary.selecting(variant.names, request)
      normalised[variant.names] = presented
      if matches(variant, presented) { found.append(variant) }
    }
    return found.count < 2 ? found : found.sorted { $0.date > $1.date }
  }

  /// The variant that answers a request: of those that match the latest; nil where none does.
  package static func selected(_ variants: [CacheVariant], _ request: HTTPFields) -> CacheVariant? {
    if let only = variants.first, variants.count == 1 {
      return matches(only, Vary.selecting(only.names, request)) ? only : nil
    }
    return matching(variants, request).first
  }

  private static func matches(_ variant: CacheVariant, _ presented: HTTPFields) -> Bool {
    if presented == variant.selecting { return true }
    guard !variant.names.contains("content-language"), let language = variant.selecting["Content-Language"] else {
      return false
    }
    var stored = variant.selecting
    stored["Content-Language"] = nil
    if presented == stored { return true }
    guard let wanted = presented[.acceptLanguage], SelectingField.preferredLanguage(wanted) == language else {
      return false
    }
    var presented = presented
    presented[.acceptLanguage] = nil
    stored[.acceptLanguage] = nil
    return presented == stored
  }

  /// The index with a variant added, in place of one under the same key; what had to make room is to be removed.
  package static func adding(
    _ variant: CacheVariant, to variants: [CacheVariant], limit: Int = limit
  ) -> (variants: [CacheVariant], dropped: [CacheVariant]) {
    var kept = variants.filter { $0.key != variant.key }
    kept.append(variant)
    if kept.count <= limit { return (kept, []) }
    // New variants stand at the end: the first are the oldest.
    let surplus = kept.count - max(1, limit)
    return (Array(kept.dropFirst(surplus)), Array(kept.prefix(surplus)))
  }
}
