package import LarderHTTP

// The way of a hit that waits for nothing. ``answer(_:policy:override:)`` begins with it, and who must not suspend asks it
// alone.
extension HTTPCache {
  /// The answer to a GET or HEAD without content, where it is at hand: fresh, whole, in memory, and as it is what the request
  /// asks for. Nil where ``answer(_:policy:override:)`` has to be asked, which then answers the same request.
  ///
  /// - Parameter url: the text of an `http` or `https` URL.
  package func answerAtHand(
    _ method: HTTPMethod, _ url: String, _ fields: HTTPFields, policy: ContentPolicy = .standard
  ) -> StoredResponse? {
    let rules = RequestRules(method: method, fields: fields)
    guard rules.isPlain, let caller = callers.known(fields, identity: transport.identity) else { return nil }
    let resource = ResourceKey.normalised(url)
    return answerAtHand(
      PlainRequest(rules, fields, policy, .none), key: caller.isEmpty ? resource : resource + caller)
  }

  /// The same with what has been read of the request.
  func answerAtHand(_ question: PlainRequest, key: String) -> StoredResponse? {
    guard let entry = cache.entryAtHand(forKey: key) else { return nil }
    guard entry.rules.isIndex else { return answer(of: entry, to: question) }
    guard !entry.rules.isHidden, let variant = VariantIndex.selected(entry.metadata.variants, question.fields),
      let selected = cache.entryAtHand(forKey: variant.key)
    else { return nil }
    return answer(of: selected, to: question, selectedBy: variant.names)
  }

  /// The answer that an entry is to a plain request; nil where it is none as it is, or none at all.
  ///
  /// - Parameter names: those by which the entry was found: their fields have been compared.
  func answer(of entry: CacheEntry, to question: PlainRequest, selectedBy names: [String] = []) -> StoredResponse? {
    let stored = entry.rules
    guard !stored.isIndex, !stored.isPartial, !stored.hasGroups, !stored.isHidden,
      selects(question.fields, entry, by: names)
    else { return nil }
    let context = LookupContext(now: options.now(), policy: question.policy, override: question.override)
    guard case .reuse(let freshness) = LookupDecision.of(question.rules, stored: stored, context) else { return nil }
    return StoredResponse(entry, freshness, hitStatus: hitStatus, isHead: question.rules.method == .head)
  }
}
