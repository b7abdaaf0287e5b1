import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPCache {
  /// Looks a request up in the cache. Unreadable entries count as absent.
  func lookup(_ cacheRequest: CacheRequest) async -> CacheLookup {
    await lookup(
      cacheRequest,
      first: cacheRequest.ignoresStoredResponse ? nil : await entry(cacheRequest.key, cacheRequest.resource))
  }

  /// Looks a request up, starting with the entry under the request's key.
  func lookup(_ cacheRequest: CacheRequest, first: CacheEntry?) async -> CacheLookup {
    guard let first else {
      return CacheLookup(key: cacheRequest.key, miss: cacheRequest.ignoresStoredResponse ? .miss : .uriMiss)
    }
    var result = CacheLookup(entry: first, key: cacheRequest.key)
    if first.rules.isIndex {
      result = await lookup(variantsOf: first, cacheRequest)
    } else if !selects(cacheRequest.request.fields, first) {
      result = CacheLookup(key: cacheRequest.key, miss: .varyMiss)
    }
    await findHidingResponse(for: &result, first, cacheRequest)
    guard let entry = result.entry else { return result }
    if let coding = unknownCoding(of: entry, cacheRequest.request.fields) {
      result.entry = nil
      result.miss = .varyMiss
      result.unknownCoding = coding
      return result
    }
    let isDecoded = expectsDecoded(entry.rules, cacheRequest.request.fields)
    if cacheRequest.rules.isConditional,
      case .notModified = ConditionalOutcome.of(cacheRequest.request.fields, entry.metadata, entry.rules)
    {
      // RFC 9110 §13.2.2: no content is sent then, whatever part of it is stored.
      result.range = .whole
    } else if entry.rules.isPartial, cacheRequest.rules.method == .head {
      result.range = .forward
    } else if !isDecoded, entry.rules.isPartial || cacheRequest.rules.hasRange {
      result.range = RangeOutcome.of(cacheRequest.request.fields, entry, boundary: "")
    }
    if entry.rules.hasGroups { result.groupsAreValid = await areValid(entry.metadata.groups, cacheRequest) }
    return result
  }

  /// Finds the response that hides the stored one, or all variants of the URL.
  ///
  /// - Parameter first: the entry under the request's key.
  private func findHidingResponse(for result: inout CacheLookup, _ first: CacheEntry, _ cacheRequest: CacheRequest)
    async
  {
    // A response without success is never hidden: it hides successes itself.
    if let entry = result.entry, !entry.rules.isSuccess { return }
    var holders = first.rules.isHidden ? [(first, cacheRequest.key)] : []
    if let entry = result.entry, entry !== first, entry.rules.isHidden { holders.append((entry, result.key)) }
    for (holder, key) in holders {
      // A response from before the holder arrived no longer applies.
      if let entry = await entry(ResourceKey.hiding(key), cacheRequest.resource),
        entry.metadata.responseMilliseconds >= holder.metadata.responseMilliseconds
      {
        guard selects(cacheRequest.request.fields, entry) else { continue }
        result.hiding = CacheLookup.Hiding(entry: entry, key: ResourceKey.hiding(key))
        if entry.rules.hasGroups { result.hiding?.groupsAreValid = await areValid(entry.metadata.groups, cacheRequest) }
      }
      result.hiddenBy = holder.metadata.hiddenBy
      result.hiddenKeys.append(key)
    }
  }

  /// The latest variant that matches and still exists.
  private func lookup(variantsOf index: CacheEntry, _ cacheRequest: CacheRequest) async -> CacheLookup {
    let variants = index.metadata.variants
    var result = CacheLookup(key: cacheRequest.key, variants: variants, miss: .varyMiss)
    guard let selected = VariantIndex.selected(variants, cacheRequest.request.fields) else { return result }
    if let entry = await entry(selected.key, cacheRequest.resource),
      selects(cacheRequest.request.fields, entry, by: selected.names)
    {
      result.entry = entry
      result.key = selected.key
      return result
    }
    for variant in VariantIndex.matching(variants, cacheRequest.request.fields) where variant.key != selected.key {
      guard let entry = await entry(variant.key, cacheRequest.resource),
        selects(cacheRequest.request.fields, entry, by: variant.names)
      else {
        continue
      }
      result.entry = entry
      result.key = variant.key
      return result
    }
    return result
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

  /// The entry under the key of a request. An entry that an earlier version stored under another spelling of the URL
  /// moves to this key.
  func firstEntry(_ key: String, _ resource: String, _ request: HTTPRequest) async -> CacheEntry? {
    if let entry = await entry(key, resource) { return entry }
    guard let former = ResourceKey.former(request.url.absoluteString), !request.fields.contains("Host") else {
      return nil
    }
    let formerKey = former + key.dropFirst(resource.count)
    guard let entry = await entry(formerKey, resource) else { return nil }
    await records.run(key) { () async in
      do throws(CacheError) {
        if try await cache.entry(forKey: key) != nil { return }
        if let hiding = try await cache.entry(forKey: ResourceKey.hiding(formerKey)) {
          try await cache.store(hiding, forKey: ResourceKey.hiding(key))
        }
        try await cache.store(entry, forKey: key)
        try await forget(formerKey)
      } catch {
        report(.cacheUpdateFailed, resource, error)
      }
    }
    return await self.entry(key, resource) ?? entry
  }

  func entry(_ key: String, _ resource: String) async -> CacheEntry? {
    do throws(CacheError) {
      return try await cache.entry(forKey: key)
    } catch {
      report(.cacheReadFailed, resource, error)
      return nil
    }
  }

  /// True if each group's record exists and has the generation that the response was stored with (RFC 9875).
  private func areValid(_ groups: [CacheGroup], _ cacheRequest: CacheRequest) async -> Bool {
    for group in groups {
      guard let record = await entry(ResourceKey.group(group.name, of: cacheRequest.resource), cacheRequest.resource)
      else { return false }
      if record.metadata.groups.first?.generation != group.generation { return false }
    }
    return true
  }
}
