import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPCache {
  /// Sends a request that is not served from the cache, and updates the cache as its response requires.
  ///
  /// A suspension cancels the request, and waits for its end.
  func pass(_ cacheRequest: CacheRequest, _ reason: ForwardReason) async throws(HTTPTransportError) -> CachedResponse {
    try await transfers.passing { [self] () async throws(HTTPTransportError) in try await send(cacheRequest, reason) }
  }

  private func send(_ cacheRequest: CacheRequest, _ reason: ForwardReason) async throws(HTTPTransportError)
    -> CachedResponse
  {
    cacheRequest.onForward?(reason)
    // The entries are looked up before the request is sent: a change in the meantime is newer than the response.
    // Nothing is stored for a request with `no-store` (RFC 9111 §5.2.1.5).
    let usesHeadResponse = cacheRequest.rules.method == .head && !cacheRequest.rules.cacheControl.contains(.noStore)
    let headLookup = usesHeadResponse ? await lookup(cacheRequest) : nil
    let sentAt = options.now()
    var response: HTTPResponse
    do {
      response = try await transport.send(cacheRequest.request)
    } catch {
      // The outcome is unknown, so the stored response may be outdated (RFC 9111 §4.4).
      if cacheRequest.rules.method == .unsafe, !error.isBeforeSending {
        await invalidate(cacheRequest.resource, caller: cacheRequest.caller)
      }
      throw error
    }
    let receivedAt = options.now()
    response.addDate(receivedAt)
    let originResponse = OriginResponse(response, requestTime: sentAt, responseTime: receivedAt)
    switch cacheRequest.rules.method {
    case .head:
      if let headLookup, let fields = await applyHeadResponse(originResponse, headLookup, cacheRequest) {
        response.fields = fields
      }
    case .unsafe: await invalidate(originResponse, cacheRequest)
    case .get, .safe: break
    }
    try response.check(for: cacheRequest.request)
    try checkCoding(response, for: cacheRequest.request)
    return await storeIfPost(response, originResponse: originResponse, cacheRequest: cacheRequest, reason: reason)
  }

  /// Returns a response, and stores that of a POST if it represents the resource itself.
  private func storeIfPost(
    _ response: HTTPResponse, originResponse: OriginResponse, cacheRequest: CacheRequest, reason: ForwardReason
  ) async -> CachedResponse {
    let originRequest = OriginRequest(cacheRequest, CacheLookup(key: cacheRequest.key), reason)
    if cacheRequest.request.method == .post, let metadata = await metadata(toStore: originResponse, originRequest),
      case .begun(let transfer, let member) = transfers.joinOrBegin(
        key: cacheRequest.key, fields: cacheRequest.request.fields, shareKey: nil,
        timeouts: cacheRequest.request.timeouts,
        asReader: true, parses: cacheRequest.isParsed)
    {
      let head = TransferHead(
        status: response.status, fields: response.fields, length: HTTPCache.length(of: response), metadata: metadata)
      let begins = transfers.start(transfer) { [self] transfer in
        var pump = Pump(
          engine: self, transfer: transfer, originRequest: originRequest, originResponse: originResponse, head: head)
        await pump.run(response.body)
        transfers.remove(transfer)
      }
      if begins {
        return networkResponse(head, of: transfer, member: member, cacheRequest, reason: reason, isCollapsed: false)
      }
    }
    var response = response
    var status = CacheStatus(options.name)
    status.forward = reason
    status.append(to: &response.fields)
    return CachedResponse(response: response, origin: .network)
  }

  // MARK: HEAD

  /// Updates the stored response to GET from a response to HEAD, which shows whether it is still valid (RFC 9111
  /// §4.3.5).
  ///
  /// If it is, all fields that are now known of the representation are returned as the response to the HEAD.
  private func applyHeadResponse(_ originResponse: OriginResponse, _ lookup: CacheLookup, _ cacheRequest: CacheRequest)
    async
    -> HTTPFields?
  {
    guard let entry = lookup.entry else { return nil }
    let verdict = HeadResponse.of(
      originResponse.rules, fields: originResponse.fields, stored: entry.rules, metadata: entry.metadata)
    switch verdict {
    case .none: return nil
    case .hide:
      await update(
        entry, to: entry.metadata.hidden(by: originResponse.status), forKey: lookup.key, cacheRequest.resource)
      return nil
    case .invalidate:
      await update(entry, to: entry.metadata.invalidated.hidden(by: nil), forKey: lookup.key, cacheRequest.resource)
      await show(lookup.hiddenKeys, cacheRequest.resource)
      return nil
    case .update:
      // A group may have been invalidated since the request was sent. So no generation is newer than the stored one,
      // and a new group has no generation, which makes the response need validation.
      let groups = CacheGroups.names(of: originResponse.fields).map { name in
        entry.metadata.groups.first { $0.name == name } ?? CacheGroup(name: name, generation: "")
      }
      let renewed = entry.with(entry.metadata.confirmed(by: originResponse.metadata(cacheRequest, groups: groups)))
      await renew(entry, to: renewed, forKey: lookup.key, cacheRequest)
      await show(lookup.hiddenKeys, cacheRequest.resource)
      return entry.rules.isPartial ? nil : renewed.metadata.fields
    }
  }

  // MARK: Invalidation

  /// Invalidates stored responses after the response to an unsafe request (RFC 9111 §4.4, RFC 9875 §3).
  private func invalidate(_ originResponse: OriginResponse, _ cacheRequest: CacheRequest) async {
    let invalid = Invalidation(
      method: cacheRequest.request.method, url: cacheRequest.request.url, status: originResponse.status,
      fields: originResponse.fields)
    let host = ResourceKey.hostSuffix(of: cacheRequest.resource)
    for url in invalid.urls {
      await invalidate(ResourceKey.normalised(url) + host, caller: cacheRequest.caller)
      if let former = ResourceKey.former(url.absoluteString) { await invalidate(former, caller: cacheRequest.caller) }
    }
    if !invalid.groups.isEmpty {
      let origin = ResourceKey.origin(of: cacheRequest.resource)
      sharedCache?.noteInvalidationOfAll()
      transfers.markOutdated { ResourceKey.origin(of: $0) == origin }
    }
    for name in invalid.groups {
      let key = ResourceKey.group(name, of: cacheRequest.resource)
      do throws(CacheError) {
        _ = try await records.run(key) { () async throws(CacheError) in try await renew(group: name, key) }
      } catch {
        report(.cacheUpdateFailed, cacheRequest.resource, error)
        await remove(key, cacheRequest.resource)
      }
    }
  }

  /// Marks the stored responses of a resource, for all callers: a change by one caller makes the responses of others
  /// outdated.
  private func invalidate(_ resource: String, caller: String) async {
    sharedCache?.noteInvalidation(of: resource)
    transfers.markOutdated { $0 == resource || $0.hasPrefix(resource + " #") }
    var keys = [resource]
    if !caller.isEmpty { keys.append(resource + caller) }
    do throws(CacheError) {
      for other in try await knownCallers.all(in: cache) where other != caller { keys.append(resource + other) }
    } catch {
      report(.cacheReadFailed, resource, error)
    }
    for key in keys { await invalidate(key, resource) }
  }

  private func invalidate(_ key: String, _ resource: String) async {
    do throws(CacheError) {
      // This waits for responses that are being stored now.
      try await records.run(key) { () async throws(CacheError) in try await invalidate(key) }
    } catch {
      report(.cacheUpdateFailed, resource, error)
      await remove(key, resource)
    }
  }

  private func invalidate(_ key: String) async throws(CacheError) {
    guard let first = try await cache.entry(forKey: key) else { return await noteAbsence(of: key) }
    try await invalidate(first, key)
    for variant in first.metadata.variants {
      if let entry = try await cache.entry(forKey: variant.key) {
        try await invalidate(entry, variant.key)
      } else {
        await noteAbsence(of: variant.key)
      }
    }
  }

  /// Notifies other processes of a removal. The files may have evicted the entry while another process still has it in
  /// memory.
  private func noteAbsence(of key: String) async {
    // If the files cannot be written, no other process can have changed the entries in memory.
    try? await sharedCache?.removeEntry(forKey: key)
  }

  /// Marks a response, and the one that hides it. An index is not a response.
  private func invalidate(_ entry: CacheEntry, _ key: String) async throws(CacheError) {
    if !entry.rules.isIndex { try await cache.update(entry, to: entry.metadata.invalidated, forKey: key) }
    let hiding = ResourceKey.hiding(key)
    guard entry.rules.isHidden else { return }
    guard let entry = try await cache.entry(forKey: hiding) else { return await noteAbsence(of: hiding) }
    try await cache.update(entry, to: entry.metadata.invalidated, forKey: hiding)
  }
}
