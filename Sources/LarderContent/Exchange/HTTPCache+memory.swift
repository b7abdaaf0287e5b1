package import LarderHTTP

// The fast path of a hit that does not suspend. ``response(to:policy:override:)`` begins with it; callers that must not
// suspend call it alone.
extension HTTPCache {
  /// The response to a GET or HEAD without content if it is available at once: fresh, complete, in memory, and usable
  /// for the request as it is. Nil if ``response(to:policy:override:)`` must be called, which then handles this request.
  ///
  /// - Parameter url: the text of an `http` or `https` URL.
  package func responseInMemory(
    _ method: HTTPMethod, _ url: String, _ fields: HTTPFields, policy: ContentPolicy = .standard
  ) -> StoredResponse? {
    let rules = RequestRules(method: method, fields: fields)
    guard rules.isPlain, let caller = callers.remembered(fields, identity: transport.identity) else { return nil }
    let resource = ResourceKey.of(url, host: rules.host)
    return responseInMemory(
      PlainRequest(rules, fields: fields, policy: policy, override: .none),
      key: caller.isEmpty ? resource : resource + caller)
  }

  /// The response to a parsed request if it is available at once.
  func responseInMemory(_ plainRequest: PlainRequest, key: String) -> StoredResponse? {
    guard let entry = cache.entryInMemory(forKey: key) else { return nil }
    guard entry.rules.isIndex else { return storedResponse(of: entry, to: plainRequest) }
    guard !entry.rules.isHidden, let variant = VariantIndex.selected(entry.metadata.variants, plainRequest.fields),
      let selected = cache.entryInMemory(forKey: variant.key)
    else { return nil }
    return storedResponse(of: selected, to: plainRequest, selectedBy: variant.names)
  }

  /// The stored response for a plain request; nil if the entry cannot be used as it is, or not at all.
  ///
  /// - Parameter names: the field names by which the entry was found; their values have already been compared.
  func storedResponse(of entry: CacheEntry, to plainRequest: PlainRequest, selectedBy names: [String] = [])
    -> StoredResponse?
  {
    let stored = entry.rules
    guard !stored.isIndex, !stored.isPartial, !stored.hasGroups, !stored.isHidden,
      !expectsDecoded(stored, plainRequest.fields),
      selects(plainRequest.fields, entry, by: names)
    else { return nil }
    let context = LookupContext(now: options.now(), policy: plainRequest.policy, override: plainRequest.override)
    guard case .reuse(let freshness) = LookupDecision.of(plainRequest.rules, stored: stored, context) else {
      return nil
    }
    return StoredResponse(entry, freshness, hitStatus: hitStatus, isHead: plainRequest.rules.method == .head)
  }
}
