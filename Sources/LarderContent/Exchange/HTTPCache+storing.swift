import LarderHTTP
import LarderStorage

extension HTTPCache {
  /// The metadata to store for a response; nil if it is not stored.
  func metadata(toStore arrival: OriginResponse, _ errand: OriginRequest) async -> CacheMetadata? {
    let inquiry = errand.inquiry
    guard isStorable(arrival, errand) else { return nil }
    if let stored = errand.stored {
      // A server error does not change the stored response. No other error replaces a success.
      if arrival.status >= 500 { return nil }
      if stored.rules.isSuccess, Succession(status: arrival.status) == .leaves { return nil }
    }
    return arrival.metadata(inquiry, groups: await generations(CacheGroups.names(of: arrival.fields), inquiry))
  }

  /// True if a response may be stored, and so may be shared by waiting requests (RFC 9111 §4), whether a cache accepts
  /// it or not.
  func isStorable(_ arrival: OriginResponse, _ errand: OriginRequest) -> Bool {
    let inquiry = errand.inquiry
    let verdict = StorageVerdict.of(
      inquiry.rules, method: inquiry.request.method, response: arrival.rules, override: inquiry.override,
      storesPartial: errand.request.fields.contains(.range)
        && ReceivedPart(status: arrival.status, fields: arrival.fields) != nil,
      url: inquiry.resource, contentLocation: contentLocation(arrival, inquiry))
    return verdict == .store && mayKeep(arrival.rules, inquiry)
  }

  /// False for a response that is meant for one client, if clients share the cache and the request does not identify
  /// its client (RFC 9111 §5.2.2.7).
  func mayKeep(_ rules: StoredRules, _ inquiry: CacheRequest) -> Bool {
    !options.isShared || !rules.isForOneClient || callers.tellsApart(inquiry.request.fields)
  }

  private func contentLocation(_ arrival: OriginResponse, _ inquiry: CacheRequest) -> String? {
    guard inquiry.request.method == .post, let said = arrival.fields["Content-Location"] else { return nil }
    return ResourceKey.resolved(said, against: inquiry.request.url)
  }

  /// Stores the result of a transfer, unless it may be outdated (RFC 9111 §4.4).
  ///
  /// A change marks transfers as outdated before it waits for the lock that is held here. So either nothing is stored,
  /// or it is stored before the change that makes it outdated.
  func unlessOutdated(_ transfer: Transfer, _ errand: OriginRequest, _ work: () async -> CacheEntry?) async
    -> CacheEntry?
  {
    await records.run(errand.inquiry.key) { () async -> CacheEntry? in
      guard !transfer.isOutdated else { return nil }
      let entry = await work()
      // Another process may have invalidated the entry while it was being stored, and found nothing to mark.
      guard entry != nil, transfer.isInvalidatedElsewhere else { return entry }
      await forgetOutdated(errand)
      return nil
    }
  }

  /// Removes what is stored for a request, with its variants. The caller holds their lock.
  private func forgetOutdated(_ errand: OriginRequest) async {
    let inquiry = errand.inquiry
    let variants = (try? await cache.entry(forKey: inquiry.key))?.metadata.variants ?? []
    for key in [inquiry.key] + variants.map(\.key) { await remove(key, inquiry.resource) }
  }

  /// Marks older transfers after a response was stored: requests that were sent before it and have no response yet.
  ///
  /// The caller holds the lock of the resource's key.
  func outdateOlder(than transfer: Transfer, _ entry: CacheEntry) {
    transfers.markOlder(than: transfer) { matches(entry.rules, entry.metadata.selecting, $0) }
  }

  /// Stores complete content as an entry, and adds it to the URL's index if the response varies. A response without
  /// success is stored beside an existing success, or not at all. Returns nil if nothing is stored.
  ///
  /// The caller holds the lock of the request's key.
  func commit(
    _ writer: any CacheWriter, _ metadata: CacheMetadata, _ errand: OriginRequest
  ) async -> CacheEntry? {
    let inquiry = errand.inquiry
    let rules = StoredRules(metadata)
    let variant = VariantIndex.variant(of: rules, request: inquiry.request.fields, under: inquiry.key)
    do throws(CacheError) {
      try await knownCallers.note(inquiry.caller, in: cache, now: options.now())
      let entry: CacheEntry
      if !rules.isSuccess, let success = try await success(inquiry, isVaried: variant != nil) {
        guard let hiding = try await hide(success.entry, success.key, behind: metadata, writer) else { return nil }
        entry = hiding
      } else if let variant {
        entry = try await writer.commit(metadata, forKey: variant.key)
        try await index(variant, isSuccess: rules.isSuccess, inquiry)
      } else {
        let former = errand.hadVariants ? try await cache.entry(forKey: inquiry.key)?.metadata.variants ?? [] : []
        entry = try await writer.commit(metadata, forKey: inquiry.key)
        for variant in former { try await forget(variant.key) }
      }
      if rules.isSuccess { await show(errand.hiddenKeys, inquiry.resource) }
      await renewSalt(afterStoring: entry)
      return entry
    } catch {
      report(.store, inquiry.resource, error)
      return nil
    }
  }

  private func renewSalt(afterStoring entry: CacheEntry) async {
    guard let salt = callers.saltToRenew(afterStoring: entry.length) else { return }
    do throws(CacheError) {
      try await CallerDigest.store(salt, in: cache, now: options.now())
    } catch {
      report(.store, "", error)
    }
  }

  /// Adds a variant to the URL's index, whose lock is held. A success makes all variants visible again.
  private func index(_ variant: CacheVariant, isSuccess: Bool, _ inquiry: CacheRequest) async throws(CacheError) {
    let present = try await cache.entry(forKey: inquiry.key)
    let (variants, dropped) = VariantIndex.adding(variant, to: present?.metadata.variants ?? [])
    let now = options.now()
    var metadata = CacheMetadata(
      url: inquiry.resource, status: 0, requestTime: now, responseTime: now, variants: variants)
    if !isSuccess, let present, present.rules.isHidden {
      metadata.hiddenBy = present.metadata.hiddenBy
      metadata.responseTime = present.metadata.responseTime
    }
    try await cache.store(CacheEntry(metadata: metadata, bytes: []), forKey: inquiry.key)
    for variant in dropped { try await forget(variant.key) }
  }

  // MARK: Confirming

  /// Renews the response that a 304 confirms (RFC 9111 §4.3.4), and returns whether the result is stored. Returns nil
  /// if the 304 confirms no existing response. The response that hid it is removed.
  func confirm(
    _ errand: OriginRequest, _ arrival: OriginResponse, _ transfer: Transfer
  ) async -> (entry: CacheEntry, isStored: Bool)? {
    guard let stored = errand.stored else { return await confirmVariant(errand, arrival, transfer) }
    guard !Validation.confirmed([stored.rules], by: arrival.rules).isEmpty else { return nil }
    let answer = await metadata(of: arrival, confirming: stored, errand.inquiry)
    let renewed = stored.with(stored.metadata.confirmed(by: answer))
    let kept = await unlessOutdated(transfer, errand) {
      let isKept = await renew(stored, to: renewed, forKey: errand.storedKey, errand.inquiry)
      await show(errand.hiddenKeys, errand.inquiry.resource)
      return isKept ? renewed : nil
    }
    return (renewed, kept != nil)
  }

  /// Stores a response after its confirmation, or removes it if the confirmation means that it must not be stored (RFC
  /// 9111 §3, §3.2, §5.2.2.5). Returns false if the confirmed response is not stored.
  @discardableResult
  func renew(_ stored: CacheEntry, to renewed: CacheEntry, forKey key: String, _ inquiry: CacheRequest) async -> Bool {
    if HTTPCache.mayStay(renewed.rules), mayKeep(renewed.rules, inquiry) {
      return await update(stored, to: renewed.metadata, forKey: key, inquiry.resource)
    }
    await remove(key, inquiry.resource)
    return false
  }

  private static func mayStay(_ rules: StoredRules) -> Bool {
    switch StorageVerdict.of(RequestRules(method: .get, fields: [:]), response: rules, storesPartial: true) {
    case .refuse(.varyStar), .refuse(.responseNoStore), .refuse(.notUnderstood): false
    case .store, .refuse: true
    }
  }

  /// Handles a 304 that names another variant by its strong tag: that variant is valid for this request too.
  ///
  /// This applies only if the 304 has `Vary`, as a server sends it that has chosen between variants (RFC 9110 §15.4.5).
  /// A server that reports everything as unchanged has not chosen.
  private func confirmVariant(
    _ errand: OriginRequest, _ arrival: OriginResponse, _ transfer: Transfer
  ) async -> (entry: CacheEntry, isStored: Bool)? {
    guard let tag = arrival.rules.etag, arrival.rules.vary != nil else { return nil }
    let fitting = errand.variants.filter { $0.etag.map { EntityTag.matchesStrongly($0, tag) } ?? false }
    let inquiry = errand.inquiry
    guard let variant = fitting.max(by: { $0.date < $1.date }), let entry = await entry(variant.key, inquiry.resource),
      !entry.rules.isPartial, !Validation.confirmed([entry.rules], by: arrival.rules).isEmpty
    else { return nil }
    let answer = await metadata(of: arrival, confirming: entry, inquiry)
    let renewed = entry.with(entry.metadata.confirmed(by: answer))
    guard HTTPCache.mayStay(renewed.rules), mayKeep(renewed.rules, inquiry),
      let another = VariantIndex.variant(of: renewed.rules, request: inquiry.request.fields, under: inquiry.key)
    else { return (renewed, false) }
    let kept = await unlessOutdated(transfer, errand) { await store(renewed, as: another, errand) }
    return (renewed, kept != nil)
  }

  private func store(_ entry: CacheEntry, as variant: CacheVariant, _ errand: OriginRequest) async -> CacheEntry? {
    let inquiry = errand.inquiry
    do throws(CacheError) {
      try await cache.store(entry, forKey: variant.key)
      try await index(variant, isSuccess: entry.rules.isSuccess, inquiry)
      if entry.rules.isSuccess { await show(errand.hiddenKeys, inquiry.resource) }
      return entry
    } catch {
      report(.update, inquiry.resource, error)
      return nil
    }
  }

  /// Updates an entry's metadata. Returns false if the cache failed.
  @discardableResult
  func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String, _ resource: String) async -> Bool {
    do throws(CacheError) {
      try await cache.update(entry, to: metadata, forKey: key)
      return true
    } catch {
      report(.update, resource, error)
      return false
    }
  }

  /// Stops the use of a stored response that is older than a response that cannot be stored. A success is outdated by
  /// another success alone.
  func discardOutdated(_ errand: OriginRequest, _ arrival: OriginResponse) async {
    guard let stored = errand.stored, HTTPCache.supersedes(arrival.status, stored.rules) else { return }
    await show(errand.hiddenKeys, errand.inquiry.resource)
    await remove(errand.storedKey, errand.inquiry.resource)
  }

  private static func supersedes(_ status: Int, _ stored: StoredRules) -> Bool {
    switch status {
    case 200, 203, 204: true
    case 300, 301, 302, 303, 307, 308, 404, 410: !stored.isSuccess
    default: false
    }
  }

  // MARK: Groups

  /// A response's metadata for updating a stored response: with the groups that it names, or else with those of the
  /// stored response, each in its current generation (RFC 9875 §2).
  func metadata(of arrival: OriginResponse, confirming stored: CacheEntry, _ inquiry: CacheRequest) async
    -> CacheMetadata
  {
    let names =
      CacheGroups.areNamed(in: arrival.fields)
      ? CacheGroups.names(of: arrival.fields) : stored.metadata.groups.map(\.name)
    return arrival.metadata(inquiry, groups: await generations(names, inquiry))
  }

  /// The current generation of each group. A group without a record gets one.
  private func generations(_ names: [String], _ inquiry: CacheRequest) async -> [CacheGroup] {
    var groups: [CacheGroup] = []
    for name in names {
      let key = ResourceKey.group(name, of: inquiry.resource)
      do throws(CacheError) {
        let generation = try await records.run(key) { () async throws(CacheError) -> String in
          let record = try await cache.entry(forKey: key)?.metadata.groups.first
          if let record { return record.generation }
          return try await renew(group: name, key)
        }
        groups.append(CacheGroup(name: name, generation: generation))
      } catch {
        report(.store, inquiry.resource, error)
        // Without a record the entry counts as outdated, which is safe.
        groups.append(CacheGroup(name: name, generation: ""))
      }
    }
    return groups
  }

  /// Gives a group a new generation, so that responses stored before no longer belong to it.
  func renew(group name: String, _ key: String) async throws(CacheError) -> String {
    let generation = Digest.hexadecimal(Digest.randomBytes(8))
    let now = options.now()
    let metadata = CacheMetadata(
      url: "", status: 0, requestTime: now, responseTime: now,
      groups: [CacheGroup(name: name, generation: generation)])
    try await cache.store(CacheEntry(metadata: metadata, bytes: []), forKey: key)
    return generation
  }
}
