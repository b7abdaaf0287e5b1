@_spi(Stores) import LarderCore
import LarderHTTP

extension HTTPCache {
  /// Requests a response from the network, in a transfer that other requests may share.
  func forward(
    _ cacheRequest: CacheRequest, _ lookup: CacheLookup, _ reason: ForwardReason, validates: Bool
  ) async throws(HTTPTransportError) -> CachedResponse {
    cacheRequest.onForward?(reason)
    // A HEAD has no content, and other requests must not get a response that must not be stored: both bypass transfers.
    var lookup = lookup
    // An entry that is neither validated nor completed is irrelevant for this request.
    if !validates, reason != .partial { lookup.entry = nil }
    if cacheRequest.rules.method == .head || cacheRequest.rules.cacheControl.contains(.noStore) {
      return try await passOrServeStale(cacheRequest, lookup, reason)
    }
    let joinResult = transfers.joinOrBegin(
      key: cacheRequest.key, fields: cacheRequest.request.fields,
      shareKey: OriginRequest.shareKey(cacheRequest, lookup),
      timeouts: cacheRequest.request.timeouts, asReader: true, parses: cacheRequest.isParsed,
      endedTransfers: cacheRequest.lookups.endedTransfers,
      mark: sharedCache?.invalidationMark(of: cacheRequest.resource))
    switch joinResult {
    case .begun(let transfer, let member):
      let originRequest = OriginRequest(cacheRequest, lookup, reason, validates: validates)
      guard transfers.start(transfer, { [self] in await run($0, originRequest) }) else {
        return try await passOrServeStale(cacheRequest, lookup, reason)
      }
      return try await lead(transfer, member: member, cacheRequest, lookup: lookup, reason: reason)
    case .joined(let transfer, let member):
      return try await follow(transfer, member: member, cacheRequest, lookup: lookup, reason: reason)
    case .late:
      return try await respond(to: cacheRequest)
    case .closed:
      return try await passOrServeStale(cacheRequest, lookup, reason)
    }
  }

  /// Sends the request on its own. If it fails, the stored response is returned if the rules allow it (RFC 5861 §4).
  private func passOrServeStale(
    _ cacheRequest: CacheRequest, _ lookup: CacheLookup, _ reason: ForwardReason
  ) async throws(HTTPTransportError) -> CachedResponse {
    let cachedResponse: CachedResponse
    do {
      cachedResponse = try await pass(cacheRequest, reason)
    } catch {
      // A suspension is not a network failure.
      if !transfers.isSuspended,
        let stale = try await staleResponse(for: .unreachable, cacheRequest, lookup: lookup, reason: reason)
      {
        return stale
      }
      throw error
    }
    guard
      let stale = try await staleResponse(
        for: .status(cachedResponse.response.status), cacheRequest, lookup: lookup, reason: reason)
    else {
      return cachedResponse
    }
    cachedResponse.response.body.cancel()
    return stale
  }

  /// Returns the response of a transfer to the request that began it, whatever the response is.
  private func lead(
    _ transfer: Transfer, member: Int, _ cacheRequest: CacheRequest, lookup: CacheLookup, reason: ForwardReason
  ) async throws(HTTPTransportError) -> CachedResponse {
    let outcome: TransferOutcome
    do {
      outcome = try await transfer.outcome(for: member)
    } catch {
      if !transfers.isSuspended,
        let cachedResponse = try await staleResponse(for: .unreachable, cacheRequest, lookup: lookup, reason: reason)
      {
        return cachedResponse
      }
      throw error
    }
    switch outcome {
    case .validated(let entry, let isStored):
      transfer.leave(member)
      return try await validated(
        entry, cacheRequest, lookup: lookup, reason: reason, isStored: isStored, isCollapsed: false)
    case .content(let head):
      if let cachedResponse = try await staleResponse(
        insteadOf: head, transfer, member: member, cacheRequest, lookup: lookup, reason: reason)
      {
        return cachedResponse
      }
      if let cachedResponse = notModified(head, cacheRequest, reason) {
        transfer.leave(member)
        return cachedResponse
      }
      return networkResponse(head, of: transfer, member: member, cacheRequest, reason: reason, isCollapsed: false)
    }
  }

  /// Returns 304 if the caller already has the new response: the caller's condition was replaced by the cache's own.
  private func notModified(_ head: TransferHead, _ cacheRequest: CacheRequest, _ reason: ForwardReason)
    -> CachedResponse?
  {
    guard cacheRequest.rules.isConditional, head.status == 200 else { return nil }
    let now = options.now()
    let metadata =
      head.metadata
      ?? CacheMetadata(
        url: cacheRequest.resource, status: head.status, fields: head.fields, requestTime: now, responseTime: now)
    let rules = head.rules ?? StoredRules(metadata)
    guard case .notModified(var fields) = ConditionalOutcome.of(cacheRequest.request.fields, metadata, rules) else {
      return nil
    }
    fields[.contentLength] = metadata.fields[.contentLength]
    var status = CacheStatus(options.name)
    status.forward = reason
    status.forwardStatus = head.status
    status.append(to: &fields)
    return CachedResponse(
      response: HTTPResponse(status: 304, fields: fields, url: cacheRequest.request.url), origin: .network)
  }

  /// Returns the response of a transfer that the request joined, if its own rules allow that, or a failure of the
  /// network or the server. Otherwise the request continues on its own.
  private func follow(
    _ transfer: Transfer, member: Int, _ cacheRequest: CacheRequest, lookup: CacheLookup, reason: ForwardReason
  ) async throws(HTTPTransportError) -> CachedResponse {
    let outcome: TransferOutcome
    do {
      outcome = try await transfer.outcome(for: member)
    } catch {
      // The transfer itself is cancelled when the engine is closed.
      if Task.isCancelled || error == .cancelled { throw .cancelled }
      if let cachedResponse = try await staleResponse(for: .unreachable, cacheRequest, lookup: lookup, reason: reason) {
        return cachedResponse
      }
      // If one request cannot reach the server, the waiting requests do not try again one by one.
      if error.isOfNetwork { throw error }
      return try await respondWithoutSharing(to: cacheRequest)
    }
    switch outcome {
    case .validated(let entry, let isStored):
      transfer.leave(member)
      guard matches(entry.rules, entry.metadata.selecting, cacheRequest.request.fields),
        allows(entry.rules, cacheRequest)
      else {
        return try await respondWithoutSharing(to: cacheRequest)
      }
      return try await validated(
        entry, cacheRequest, lookup: lookup, reason: reason, isStored: isStored, isCollapsed: true)
    case .content(let head):
      return try await share(head, of: transfer, member: member, cacheRequest, lookup: lookup, reason: reason)
    }
  }

  private func share(
    _ head: TransferHead, of transfer: Transfer, member: Int, _ cacheRequest: CacheRequest, lookup: CacheLookup,
    reason: ForwardReason
  ) async throws(HTTPTransportError) -> CachedResponse {
    if let metadata = head.metadata, let rules = head.rules {
      guard matches(rules, metadata.selecting, cacheRequest.request.fields) else {
        transfer.leave(member)
        return try await otherVariant(cacheRequest, rules.vary?.names ?? [])
      }
      // The transfer may be for a request that asked for the coding.
      if allows(rules, cacheRequest), !expectsDecoded(rules, cacheRequest.request.fields) {
        return networkResponse(head, of: transfer, member: member, cacheRequest, reason: reason, isCollapsed: true)
      }
    }
    if let cachedResponse = try await staleResponse(
      insteadOf: head, transfer, member: member, cacheRequest, lookup: lookup, reason: reason)
    {
      return cachedResponse
    }
    // They do not retry after a server error either, if its response may be stored.
    if let failure = head.failure, matches(StoredRules(failure), failure.selecting, cacheRequest.request.fields) {
      return networkResponse(head, of: transfer, member: member, cacheRequest, reason: reason, isCollapsed: true)
    }
    transfer.leave(member)
    return try await respondWithoutSharing(to: cacheRequest)
  }

  /// Sends the request again, in a transfer shared with requests that select the same variant.
  private func otherVariant(
    _ cacheRequest: CacheRequest, _ names: [String]
  ) async throws(HTTPTransportError) -> CachedResponse {
    guard cacheRequest.varyNames.isEmpty else { return try await respondWithoutSharing(to: cacheRequest) }
    var cacheRequest = cacheRequest
    cacheRequest.varyNames = names
    cacheRequest.lookups = .none
    return try await respond(to: cacheRequest)
  }

  private func respondWithoutSharing(to cacheRequest: CacheRequest) async throws(HTTPTransportError) -> CachedResponse {
    var cacheRequest = cacheRequest
    cacheRequest.canShareTransfer = false
    return try await respond(to: cacheRequest)
  }

  /// True if a request has the fields that selected a response (RFC 9111 §4.1).
  func matches(_ rules: StoredRules, _ selecting: HTTPFields, _ request: HTTPFields) -> Bool {
    (rules.vary?.selecting(request) ?? [:]) == selecting
  }

  /// True if a response that another request just received may be used for this one (RFC 9111 §4).
  private func allows(_ rules: StoredRules, _ cacheRequest: CacheRequest) -> Bool {
    guard canStore(rules, cacheRequest) else { return false }
    // A revalidation needs the server's current response, and this is it.
    let policy = cacheRequest.policy == .reload ? ContentPolicy.standard : cacheRequest.policy
    let context = LookupContext(now: options.now(), policy: policy, override: cacheRequest.override)
    switch LookupDecision.of(cacheRequest.rules, stored: rules, context) {
    case .reuse, .reuseWhileRevalidating: return true
    case .validate, .forward, .unsatisfiable: return false
    }
  }

  // MARK: Responses

  func networkResponse(
    _ head: TransferHead, of transfer: Transfer, member: Int, _ cacheRequest: CacheRequest, reason: ForwardReason,
    isCollapsed: Bool
  ) -> CachedResponse {
    var status = CacheStatus(options.name)
    status.forward = reason
    status.forwardStatus = head.forwardStatus
    status.isStored = head.isStored
    status.isCollapsed = isCollapsed
    // Parts of a response that must not be stored are for the request that caused it only (RFC 9111 §4, §5.2.2.4).
    var fields = isCollapsed ? StoredFields.toStore(head.fields, CacheControl(head.fields)) : head.fields
    status.append(to: &fields)
    let response = HTTPResponse(
      status: head.status, fields: fields, url: cacheRequest.request.url,
      body: body(of: head, transfer, member: member, cacheRequest))
    // A later query must not get the rejected content.
    let parserVerdict = transfer.approval.receive(member) { [transfers] in
      transfers.detach(transfer, isShareable: nil)
    }
    var cachedResponse = CachedResponse(response: response, origin: .network, storing: transfer.storing)
    if cacheRequest.isParsed { cachedResponse.parserVerdict = parserVerdict }
    return cachedResponse
  }

  private func body(
    of head: TransferHead, _ transfer: Transfer, member: Int, _ cacheRequest: CacheRequest
  ) -> HTTPBodyStream {
    if let view = head.view { return transfer.body(for: member, range: view) }
    return transfer.body(for: member, length: head.length) { [self] position, loss in
      try await rest(of: head, from: position, cacheRequest, loss)
    }
  }

  /// Requests the content of a response from a position on once more, after the received content was lost.
  ///
  /// Only content that is identical byte for byte can be continued (RFC 9110 §13.1.5). The server sends a range if it
  /// supports this, otherwise the whole content, whose beginning is dropped.
  private func rest(
    of head: TransferHead, from position: Int, _ cacheRequest: CacheRequest, _ loss: Transfer.Loss
  ) async throws(HTTPTransportError) -> HTTPBodyStream {
    let validator = head.rules.flatMap { StrongValidator($0) }
    guard position == 0 || validator != nil else {
      throw .other("\(loss.rawValue), and the response has no strong validator, so that the transfer cannot be resumed")
    }
    var request = cacheRequest.request
    // The length must be that of the content as the server sent it: positions refer to the server's content.
    if position > 0, let validator, head.status == 200, head.fields.contains(.contentLength) {
      request.fields[.range] = "bytes=\(position)-"
      // The text is sent as the server sent it, because some servers compare texts.
      if case .date = validator, let text = head.fields[.lastModified] {
        request.fields[.ifRange] = text
      } else {
        request.fields[.ifRange] = validator.ifRange
      }
    }
    let response = try await transport.send(request)
    let newRules = OriginResponse(response, requestTime: 0, responseTime: 0).rules
    let hasSameCoding = response.fields.contentCoding == head.fields.contentCoding
    if response.status == 206, hasSameCoding, let part = ReceivedPart(status: 206, fields: response.fields),
      part.range.lowerBound == position, part.range.upperBound == part.length, part.length == head.length,
      newRules.etag == head.rules?.etag,
      newRules.lastModified == nil || newRules.lastModified == head.rules?.lastModified
    {
      return response.body
    }
    let isSame = position > 0 || head.length == nil || response.body.length == head.length
    guard response.status == head.status, isSame, hasSameCoding, validator == StrongValidator(newRules) else {
      response.body.cancel()
      throw .other("\(loss.rawValue), and the content on the server has changed")
    }
    return HTTPCache.content(response.body, from: position)
  }

  private static func content(_ body: HTTPBodyStream, from position: Int) -> HTTPBodyStream {
    let source = Puller(body)
    let skipping = Locked(position)
    return HTTPBodyStream(next: {
      while let bytes = try await source.next() {
        let skipped = skipping.withLock { left in
          let skipped = min(left, bytes.count)
          left -= skipped
          return skipped
        }
        if skipped < bytes.count { return skipped == 0 ? bytes : Array(bytes[skipped...]) }
      }
      return nil
    })
  }

  private func validated(
    _ entry: CacheEntry, _ cacheRequest: CacheRequest, lookup: CacheLookup, reason: ForwardReason, isStored: Bool,
    isCollapsed: Bool
  ) async throws(HTTPTransportError) -> CachedResponse {
    var lookup = lookup
    lookup.entry = entry
    lookup.hiddenBy = nil
    let freshness =
      entry.rules.freshness(at: options.now(), cacheRequest.override) ?? Freshness(age: 0, softLifetime: 0, lifetime: 0)
    var status = CacheStatus(options.name)
    status.forward = reason
    status.forwardStatus = 304
    status.timeToLive = freshness.remainingSeconds
    status.isStored = isStored
    status.isCollapsed = isCollapsed
    return try await reuse(lookup, cacheRequest, freshness, isFinal: true, status: status, origin: .validated)
  }

  /// The stored response to return instead of a failure, if the rules allow it (RFC 5861 §4); otherwise nil.
  private func staleResponse(
    for failure: StaleVerdict.Failure, _ cacheRequest: CacheRequest, lookup: CacheLookup, reason: ForwardReason
  ) async throws(HTTPTransportError) -> CachedResponse? {
    let lookup = lookup.shown(offline: cacheRequest.failurePolicy == .staleWhenUnreachable)
    guard let entry = lookup.entry, !Task.isCancelled else { return nil }
    var context = cacheRequest.context(now: options.now(), lookup: lookup)
    context.policy = cacheRequest.failurePolicy
    guard case .serve(let freshness) = StaleVerdict.of(failure, cacheRequest.rules, stored: entry.rules, context) else {
      return nil
    }
    var status = CacheStatus(options.name)
    status.forward = reason
    status.timeToLive = freshness.remainingSeconds
    if case .status(let code) = failure { status.forwardStatus = code }
    return try await reuse(lookup, cacheRequest, freshness, isFinal: true, status: status)
  }

  /// The stored response to return instead of a failed response, if the rules allow it. The member leaves the transfer
  /// then, and also if this fails.
  private func staleResponse(
    insteadOf head: TransferHead, _ transfer: Transfer, member: Int, _ cacheRequest: CacheRequest,
    lookup: CacheLookup, reason: ForwardReason
  ) async throws(HTTPTransportError) -> CachedResponse? {
    do {
      let cachedResponse = try await staleResponse(
        for: .status(head.status), cacheRequest, lookup: lookup, reason: reason)
      if cachedResponse != nil { transfer.leave(member) }
      return cachedResponse
    } catch {
      transfer.leave(member)
      throw error
    }
  }

  // MARK: Revalidation

  /// Requests the server's response after an intermediate one; shares the transfer if one is already running.
  func revalidate(_ cacheRequest: CacheRequest, orStale: Bool) async throws(HTTPTransportError) -> CachedResponse {
    try await unlessSuspended { () async throws(HTTPTransportError) in
      try await respond(to: cacheRequest.revalidating(orStale: orStale))
    }
  }

  func revalidateInBackground(_ cacheRequest: CacheRequest) {
    // A response to HEAD renews the stored response or marks it as outdated, and never replaces it (RFC 9111 §4.3.5).
    if cacheRequest.rules.method == .head { return passInBackground(cacheRequest) }
    transfers.runInBackground(cacheRequest.key) { [self] in
      let cacheRequest = cacheRequest.revalidating()
      let lookup = await lookup(cacheRequest)
      let joinResult = transfers.joinOrBegin(
        key: cacheRequest.key, fields: cacheRequest.request.fields,
        shareKey: OriginRequest.shareKey(cacheRequest, lookup),
        timeouts: cacheRequest.request.timeouts, asReader: false,
        mark: sharedCache?.invalidationMark(of: cacheRequest.resource))
      switch joinResult {
      case .joined(let transfer, let member): transfer.leave(member)
      case .closed, .late: break
      case .begun(let transfer, let member):
        let originRequest = OriginRequest(cacheRequest, lookup, .stale, validates: lookup.covers)
        guard transfers.start(transfer, { [self] in await run($0, originRequest) }) else { return }
        await transfer.settled(for: member)
      }
    }
  }

  private func passInBackground(_ cacheRequest: CacheRequest) {
    transfers.runInBackground("HEAD " + cacheRequest.key) { [self] in
      // If there is no response, the stored response stays as it is, and the next request tries again.
      if let cachedResponse = try? await pass(cacheRequest.revalidating(), .stale) {
        cachedResponse.response.body.cancel()
      }
    }
  }
}
