import LarderHTTP

extension HTTPCache {
  /// Looks a request up in the cache. Unreadable entries count as absent.
  func lookup(_ inquiry: CacheRequest) async -> Found {
    await lookup(inquiry, first: inquiry.ignoresStored ? nil : await entry(inquiry.key, inquiry.resource))
  }

  /// Looks a request up, starting with the entry under the request's key.
  func lookup(_ inquiry: CacheRequest, first: CacheEntry?) async -> Found {
    guard let first else { return Found(key: inquiry.key, miss: inquiry.ignoresStored ? .miss : .uriMiss) }
    var found = Found(entry: first, key: inquiry.key)
    if first.rules.isIndex {
      found = await lookup(variantsOf: first, inquiry)
    } else if !selects(inquiry.request.fields, first) {
      found = Found(key: inquiry.key, miss: .varyMiss)
    }
    await lookup(whatHides: &found, first, inquiry)
    guard let entry = found.entry else { return found }
    if inquiry.rules.isConditional,
      case .notModified = ConditionalOutcome.of(inquiry.request.fields, entry.metadata, entry.rules)
    {
      // RFC 9110 §13.2.2: no content is sent then, whatever part of it is stored.
      found.range = .whole
    } else if entry.rules.isPartial, inquiry.rules.method == .head {
      found.range = .forward
    } else if entry.rules.isPartial || inquiry.rules.hasRange {
      found.range = RangeOutcome.of(inquiry.request.fields, entry, boundary: "")
    }
    if entry.rules.hasGroups { found.groupsAreValid = await areValid(entry.metadata.groups, inquiry) }
    return found
  }

  /// Finds the response that hides the stored one, or all variants of the URL.
  ///
  /// - Parameter first: the entry under the request's key.
  private func lookup(whatHides found: inout Found, _ first: CacheEntry, _ inquiry: CacheRequest) async {
    // A response without success is never hidden: it hides successes itself.
    if let entry = found.entry, !entry.rules.isSuccess { return }
    var holders = first.rules.isHidden ? [(first, inquiry.key)] : []
    if let entry = found.entry, entry !== first, entry.rules.isHidden { holders.append((entry, found.key)) }
    for (holder, key) in holders {
      // A response from before the holder arrived no longer applies.
      if let entry = await entry(ResourceKey.hiding(key), inquiry.resource),
        entry.metadata.responseTime >= holder.metadata.responseTime
      {
        guard selects(inquiry.request.fields, entry) else { continue }
        found.hiding = Found.Hiding(entry: entry, key: ResourceKey.hiding(key))
        if entry.rules.hasGroups { found.hiding?.groupsAreValid = await areValid(entry.metadata.groups, inquiry) }
      }
      found.hiddenBy = holder.metadata.hiddenBy
      found.hiddenKeys.append(key)
    }
  }

  /// The latest variant that matches and still exists.
  private func lookup(variantsOf index: CacheEntry, _ inquiry: CacheRequest) async -> Found {
    let variants = index.metadata.variants
    var found = Found(key: inquiry.key, variants: variants, miss: .varyMiss)
    guard let selected = VariantIndex.selected(variants, inquiry.request.fields) else { return found }
    if let entry = await entry(selected.key, inquiry.resource),
      selects(inquiry.request.fields, entry, by: selected.names)
    {
      found.entry = entry
      found.key = selected.key
      return found
    }
    for variant in VariantIndex.matching(variants, inquiry.request.fields) where variant.key != selected.key {
      guard let entry = await entry(variant.key, inquiry.resource),
        selects(inquiry.request.fields, entry, by: variant.names)
      else {
        continue
      }
      found.entry = entry
      found.key = variant.key
      return found
    }
    return found
  }

  /// True if the request selects an entry by its `Vary`, which a later response may have changed since the entry was
  /// stored under its key (RFC 9111 §3.2, §4.1).
  ///
  /// - Parameter names: the field names by which the entry was found; their values have already been compared.
  func selects(_ request: HTTPFields, _ entry: CacheEntry, by names: [String] = []) -> Bool {
    guard let vary = entry.rules.vary else { return true }
    if vary.matchesNothing { return false }
    return vary.names == names || matches(entry.rules, entry.metadata.selecting, request)
  }

  func entry(_ key: String, _ resource: String) async -> CacheEntry? {
    do throws(CacheError) {
      return try await cache.entry(forKey: key)
    } catch {
      report(.read, resource, error)
      return nil
    }
  }

  /// True if each group's record exists and has the generation that the response was stored with (RFC 9875).
  private func areValid(_ groups: [CacheGroup], _ inquiry: CacheRequest) async -> Bool {
    for group in groups {
      guard let record = await entry(ResourceKey.group(group.name, of: inquiry.resource), inquiry.resource)
      else { return false }
      if record.metadata.groups.first?.generation != group.generation { return false }
    }
    return true
  }
}
