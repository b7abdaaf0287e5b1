@_spi(Stores) import LarderCore
import LarderHTTP
import LarderStorage

extension HTTPCache {
  /// The metadata to store for a response; nil if it is not stored.
  func metadata(toStore originResponse: OriginResponse, _ originRequest: OriginRequest) async -> CacheMetadata? {
    let cacheRequest = originRequest.cacheRequest
    guard isStorable(originResponse, originRequest) else { return nil }
    if let stored = originRequest.stored {
      // A server error does not change the stored response. No other error replaces a success.
      if originResponse.status >= 500 { return nil }
      if stored.rules.isSuccess, Succession(status: originResponse.status) == .leaves { return nil }
    }
    return originResponse.metadata(
      cacheRequest, groups: await generations(CacheGroups.names(of: originResponse.fields), cacheRequest))
  }

  /// True if a response may be stored, and so may be shared by waiting requests (RFC 9111 §4), whether a cache accepts
  /// it or not.
  func isStorable(_ originResponse: OriginResponse, _ originRequest: OriginRequest) -> Bool {
    let cacheRequest = originRequest.cacheRequest
    let verdict = StorageVerdict.of(
      cacheRequest.rules, method: cacheRequest.request.method, response: originResponse.rules,
      override: cacheRequest.override,
      storesPartial: originRequest.request.fields.contains(.range)
        && ReceivedPart(status: originResponse.status, fields: originResponse.fields) != nil,
      url: ResourceKey.url(of: cacheRequest.resource), contentLocation: contentLocation(originResponse, cacheRequest))
    return verdict == .store && canStore(originResponse.rules, cacheRequest)
  }

  /// False for a response that is meant for one client, if clients share the cache and the request does not identify
  /// its client (RFC 9111 §5.2.2.7).
  func canStore(_ rules: StoredRules, _ cacheRequest: CacheRequest) -> Bool {
    !options.isShared || !rules.isForOneClient || callers.hasCredentials(cacheRequest.request.fields)
  }

  private func contentLocation(_ originResponse: OriginResponse, _ cacheRequest: CacheRequest) -> String? {
    guard cacheRequest.request.method == .post, let said = originResponse.fields["Content-Location"] else { return nil }
    return ResourceKey.resolved(said, against: cacheRequest.request.url)
  }

  /// Stores the result of a transfer, unless it may be outdated (RFC 9111 §4.4).
  ///
  /// A change marks transfers as outdated before it waits for the lock that is held here. So either nothing is stored,
  /// or it is stored before the change that makes it outdated.
  func unlessOutdated(_ transfer: Transfer, _ originRequest: OriginRequest, _ work: () async -> CacheEntry?) async
    -> CacheEntry?
  {
    await records.run(originRequest.cacheRequest.key) { () async -> CacheEntry? in
      guard !transfer.isOutdated else { return nil }
      let entry = await work()
      // Another process may have invalidated the entry while it was being stored, and found nothing to mark.
      guard entry != nil, transfer.isInvalidatedElsewhere else { return entry }
      await forgetOutdated(originRequest)
      return nil
    }
  }

  /// Removes what is stored for a request, with its variants. The caller holds their lock.
  private func forgetOutdated(_ originRequest: OriginRequest) async {
    let cacheRequest = originRequest.cacheRequest
    let variants = (try? await cache.entry(forKey: cacheRequest.key))?.metadata.variants ?? []
    for key in [cacheRequest.key] + variants.map(\.key) { await remove(key, cacheRequest.resource) }
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
    _ writer: any CacheWriter, _ metadata: CacheMetadata, _ originRequest: OriginRequest
  ) async -> CacheEntry? {
    let cacheRequest = originRequest.cacheRequest
    let rules = StoredRules(metadata)
    let variant = VariantIndex.variant(of: rules, request: cacheRequest.request.fields, under: cacheRequest.key)
    do throws(CacheError) {
      try await knownCallers.note(cacheRequest.caller, in: cache, now: options.now())
      let entry: CacheEntry
      if !rules.isSuccess, let success = try await success(cacheRequest, isVaried: variant != nil) {
        guard let hiding = try await hide(success.entry, success.key, behind: metadata, writer) else { return nil }
        entry = hiding
      } else if let variant {
        entry = try await writer.commit(metadata, forKey: variant.key)
        try await index(variant, isSuccess: rules.isSuccess, cacheRequest)
      } else {
        let former =
          originRequest.hadVariants ? try await cache.entry(forKey: cacheRequest.key)?.metadata.variants ?? [] : []
        entry = try await writer.commit(metadata, forKey: cacheRequest.key)
        for variant in former { try await forget(variant.key) }
      }
      if rules.isSuccess { await show(originRequest.hiddenKeys, cacheRequest.resource) }
      await renewSalt(afterStoring: entry)
      return entry
    } catch {
      report(.cacheWriteFailed, cacheRequest.resource, error)
      return nil
    }
  }

  private func renewSalt(afterStoring entry: CacheEntry) async {
    guard let salt = callers.saltToRenew(afterStoring: entry.length) else { return }
    do throws(CacheError) {
      try await CallerDigest.store(salt, in: cache, now: options.now())
    } catch {
      report(.cacheWriteFailed, nil, error)
    }
  }

  /// Adds a variant to the URL's index, whose lock is held. A success makes all variants visible again.
  private func index(_ variant: CacheVariant, isSuccess: Bool, _ cacheRequest: CacheRequest) async throws(CacheError) {
    let present = try await cache.entry(forKey: cacheRequest.key)
    let (variants, dropped) = VariantIndex.adding(variant, to: present?.metadata.variants ?? [])
    let now = options.now()
    var metadata = CacheMetadata(
      url: ResourceKey.url(of: cacheRequest.resource), status: 0, requestTime: now, responseTime: now,
      variants: variants)
    if !isSuccess, let present, present.rules.isHidden {
      metadata.hiddenBy = present.metadata.hiddenBy
      metadata.responseMilliseconds = present.metadata.responseMilliseconds
    }
    try await cache.store(CacheEntry(metadata: metadata, bytes: []), forKey: cacheRequest.key)
    for variant in dropped { try await forget(variant.key) }
  }

  // MARK: Confirming

  /// Renews the response that a 304 confirms (RFC 9111 §4.3.4), and returns whether the result is stored. Returns nil
  /// if the 304 confirms no existing response. The response that hid it is removed.
  func confirm(
    _ originRequest: OriginRequest, _ originResponse: OriginResponse, _ transfer: Transfer
  ) async -> (entry: CacheEntry, isStored: Bool)? {
    guard let stored = originRequest.stored else {
      return await confirmVariant(originRequest, originResponse, transfer)
    }
    guard !Validation.confirmed([stored.rules], by: originResponse.rules).isEmpty else {
      guard Validation.isUsable(stored.rules, after: originResponse.rules, sent: originRequest.request.fields) else {
        return nil
      }
      let unchanged = await unlessOutdated(transfer, originRequest) {
        await show(originRequest.hiddenKeys, originRequest.cacheRequest.resource)
        return stored
      }
      return (stored, unchanged != nil)
    }
    let newMetadata = await metadata(of: originResponse, confirming: stored, originRequest.cacheRequest)
    let renewed = stored.with(stored.metadata.confirmed(by: newMetadata))
    let storedEntry = await unlessOutdated(transfer, originRequest) {
      let isKept = await renew(stored, to: renewed, forKey: originRequest.storedKey, originRequest.cacheRequest)
      await show(originRequest.hiddenKeys, originRequest.cacheRequest.resource)
      return isKept ? renewed : nil
    }
    return (renewed, storedEntry != nil)
  }

  /// Stores a response after its confirmation, or removes it if the confirmation means that it must not be stored (RFC
  /// 9111 §3, §3.2, §5.2.2.5). Returns false if the confirmed response is not stored.
  @discardableResult
  func renew(_ stored: CacheEntry, to renewed: CacheEntry, forKey key: String, _ cacheRequest: CacheRequest) async
    -> Bool
  {
    if HTTPCache.canRemain(renewed.rules), canStore(renewed.rules, cacheRequest) {
      return await update(stored, to: renewed.metadata, forKey: key, cacheRequest.resource)
    }
    await remove(key, cacheRequest.resource)
    return false
  }

  private static func canRemain(_ rules: StoredRules) -> Bool {
    switch StorageVerdict.of(RequestRules(method: .get, fields: [:]), response: rules, storesPartial: true) {
    case .reject(.varyStar), .reject(.responseNoStore), .reject(.notUnderstood): false
    case .store, .reject: true
    }
  }

  /// Handles a 304 that names another variant by its strong tag: that variant is valid for this request too.
  ///
  /// This applies only if the 304 has `Vary`, as a server sends it that has chosen between variants (RFC 9110 §15.4.5).
  /// A server that reports everything as unchanged has not chosen.
  private func confirmVariant(
    _ originRequest: OriginRequest, _ originResponse: OriginResponse, _ transfer: Transfer
  ) async -> (entry: CacheEntry, isStored: Bool)? {
    guard let tag = originResponse.rules.etag, originResponse.rules.vary != nil else { return nil }
    let fitting = originRequest.variants.filter { $0.etag.map { EntityTag.matchesStrongly($0, tag) } ?? false }
    let cacheRequest = originRequest.cacheRequest
    guard let variant = fitting.max(by: { $0.dateMilliseconds < $1.dateMilliseconds }),
      let entry = await entry(variant.key, cacheRequest.resource),
      !entry.rules.isPartial, !Validation.confirmed([entry.rules], by: originResponse.rules).isEmpty
    else { return nil }
    let newMetadata = await metadata(of: originResponse, confirming: entry, cacheRequest)
    let renewed = entry.with(entry.metadata.confirmed(by: newMetadata))
    guard HTTPCache.canRemain(renewed.rules), canStore(renewed.rules, cacheRequest),
      let another = VariantIndex.variant(
        of: renewed.rules, request: cacheRequest.request.fields, under: cacheRequest.key)
    else { return (renewed, false) }
    let storedEntry = await unlessOutdated(transfer, originRequest) { await store(renewed, as: another, originRequest) }
    return (renewed, storedEntry != nil)
  }

  private func store(_ entry: CacheEntry, as variant: CacheVariant, _ originRequest: OriginRequest) async -> CacheEntry?
  {
    let cacheRequest = originRequest.cacheRequest
    do throws(CacheError) {
      try await cache.store(entry, forKey: variant.key)
      try await index(variant, isSuccess: entry.rules.isSuccess, cacheRequest)
      if entry.rules.isSuccess { await show(originRequest.hiddenKeys, cacheRequest.resource) }
      return entry
    } catch {
      report(.cacheUpdateFailed, cacheRequest.resource, error)
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
      report(.cacheUpdateFailed, resource, error)
      return false
    }
  }

  /// Stops the use of a stored response that is older than a response that cannot be stored. A success is outdated by
  /// another success alone.
  func discardOutdated(_ originRequest: OriginRequest, _ originResponse: OriginResponse) async {
    guard let stored = originRequest.stored, HTTPCache.supersedes(originResponse.status, stored.rules) else { return }
    await show(originRequest.hiddenKeys, originRequest.cacheRequest.resource)
    await remove(originRequest.storedKey, originRequest.cacheRequest.resource)
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
  func metadata(of originResponse: OriginResponse, confirming stored: CacheEntry, _ cacheRequest: CacheRequest) async
    -> CacheMetadata
  {
    let names =
      CacheGroups.areNamed(in: originResponse.fields)
      ? CacheGroups.names(of: originResponse.fields) : stored.metadata.groups.map(\.name)
    return originResponse.metadata(cacheRequest, groups: await generations(names, cacheRequest))
  }

  /// The current generation of each group. A group without a record gets one.
  private func generations(_ names: [String], _ cacheRequest: CacheRequest) async -> [CacheGroup] {
    var groups: [CacheGroup] = []
    for name in names {
      let key = ResourceKey.group(name, of: cacheRequest.resource)
      do throws(CacheError) {
        let generation = try await records.run(key) { () async throws(CacheError) -> String in
          let record = try await cache.entry(forKey: key)?.metadata.groups.first
          if let record { return record.generation }
          return try await renew(group: name, key)
        }
        groups.append(CacheGroup(name: name, generation: generation))
      } catch {
        report(.cacheWriteFailed, cacheRequest.resource, error)
        // Without a record the entry counts as outdated, which is safe.
        groups.append(CacheGroup(name: name, generation: ""))
      }
    }
    return groups
  }

  /// Gives a group a new generation, so that responses stored before no longer belong to it.
  func renew(group name: String, _ key: String) async throws(CacheError) -> String {
    let generation = Hexadecimal.text(Digest.randomBytes(8))
    let now = options.now()
    let metadata = CacheMetadata(
      url: "", status: 0, requestTime: now, responseTime: now,
      groups: [CacheGroup(name: name, generation: generation)])
    try await cache.store(CacheEntry(metadata: metadata, bytes: []), forKey: key)
    return generation
  }
}
