@_spi(Stores) import LarderCore
package import LarderHTTP
import LarderStorage

/// The responses of one URL that differ by fields of the request (RFC 9111 §4.1).
package enum VariantIndex {
  /// The maximum number of variants of a URL; new ones replace the oldest.
  package static let limit = 64

  /// The key of a variant's entry: the URL's key and a digest of the selecting fields.
  ///
  /// Equal `Vary` and equal normalised values give equal keys, so that a newer response replaces an older one.
  package static func key(under key: String, names: [String], selecting: HTTPFields) -> String {
    var text: [UInt8] = []
    for name in names {
      text += name.utf8
      text.append(0x3A)
      for value in selecting.values(of: HTTPFieldName(name)) {
        // An absent value and an empty one differ.
        text.append(0x3D)
        text += value.utf8
      }
      text.append(0x0A)
    }
    return key + " ~" + Hexadecimal.text(Digest.sha256(text).prefix(16))
  }

  /// Describes a response as a variant; nil if its `Vary` is absent, empty or `*`.
  ///
  /// If the names include `Accept-Language`, ``CacheVariant/selecting`` also contains the response's
  /// `Content-Language`: another request that prefers that language gets this response too.
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
    var presented = Presented(request)
    let matches = variants.filter { presented.selects($0) }
    return matches.count < 2 ? matches : matches.sorted { $0.dateMilliseconds > $1.dateMilliseconds }
  }

  /// The variant for a request: the latest of those that match; nil if none does.
  package static func selected(_ variants: [CacheVariant], _ request: HTTPFields) -> CacheVariant? {
    var presented = Presented(request)
    var latest: CacheVariant?
    for variant in variants where latest.map({ variant.dateMilliseconds > $0.dateMilliseconds }) ?? true {
      if presented.selects(variant) { latest = variant }
    }
    return latest
  }

  /// A request's fields, each normalised at its first use.
  private struct Presented {
    let request: HTTPFields
    var values: [(name: String, value: String?)] = []

    init(_ request: HTTPFields) { self.request = request }

    mutating func value(_ name: String) -> String? {
      if let match = values.first(where: { $0.name == name }) { return match.value }
      let value = SelectingField.value(of: name, in: request)
      values.append((name, value))
      return value
    }

    /// True if every selecting field is equal, or differs only in a language that means the same choice.
    mutating func selects(_ variant: CacheVariant) -> Bool {
      for name in variant.names {
        let stored = variant.selecting[HTTPFieldName(name)]
        let presented = value(name)
        if stored == presented { continue }
        guard name == "accept-language", stored != nil, let presented, !variant.names.contains("content-language"),
          let language = variant.selecting["Content-Language"],
          SelectingField.preferredLanguage(presented) == language
        else { return false }
      }
      return true
    }
  }

  /// The index with a variant added, in place of one under the same key. The caller must remove the variants that were
  /// dropped.
  package static func adding(
    _ variant: CacheVariant, to variants: [CacheVariant], limit: Int = limit
  ) -> (variants: [CacheVariant], dropped: [CacheVariant]) {
    var retained = variants.filter { $0.key != variant.key }
    retained.append(variant)
    if retained.count <= limit { return (retained, []) }
    // New variants are at the end: the first are the oldest.
    let surplus = retained.count - max(1, limit)
    return (Array(retained.dropFirst(surplus)), Array(retained.prefix(surplus)))
  }
}
