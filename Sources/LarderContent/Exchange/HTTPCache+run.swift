import LarderHTTP

extension HTTPCache {
  /// Runs one exchange with the network, from the request to the end of the content, for all requests that share it.
  func run(_ transfer: Transfer, _ originRequest: OriginRequest) async {
    defer { transfers.remove(transfer) }
    var originRequest = originRequest
    while true {
      let sentAt = options.now()
      var response: HTTPResponse
      do {
        response = try await transport.send(originRequest.request)
        try response.check(for: originRequest.request, isClientRequest: originRequest.isPlain)
        // A part for the cache is checked when it is combined.
        if originRequest.purpose != .completion || response.status != 206 {
          try checkCoding(response, for: originRequest.request)
        }
      } catch {
        transfers.detach(transfer, isShareable: nil)
        return transfer.publish(.failure(error))
      }
      let receivedAt = options.now()
      response.addDate(receivedAt)
      let originResponse = OriginResponse(response, requestTime: sentAt, responseTime: receivedAt)
      if await settle(response, originResponse: originResponse, originRequest: originRequest, transfer: transfer) {
        return
      }
      // The response to the cache's own conditions or range was not usable: the caller's request is sent as it is.
      await response.body.drainWhereShort()
      originRequest = originRequest.plain
    }
  }

  /// Processes a response according to the purpose of the request. Returns false if the request must be sent again.
  private func settle(
    _ response: HTTPResponse, originResponse: OriginResponse, originRequest: OriginRequest, transfer: Transfer
  ) async -> Bool {
    switch originRequest.purpose {
    case .plain:
      // The caller's copy is the server's. If the stored response has the same entity tag, it is too (RFC 9111 §4.3.4).
      if response.status == 304, originResponse.rules.etag != nil {
        _ = await confirm(originRequest, originResponse, transfer)
      }
    case .validation:
      guard response.status == 304 else { break }
      return await notModified(
        response, originResponse: originResponse, originRequest: originRequest, transfer: transfer)
    case .completion:
      guard let stored = originRequest.stored else { break }
      let metadata = await metadata(of: originResponse, confirming: stored, originRequest.cacheRequest)
      switch CompletionOutcome.of(metadata, originResponse.rules, to: stored) {
      case .combine(let combination, let part):
        let completion = Completion(
          combination, entry: stored, part: part, partMetadata: metadata, rules: originResponse.rules)
        return await complete(
          completion, response: response, originResponse: originResponse, originRequest: originRequest,
          transfer: transfer)
      case .requestAgain: return false
      case .replace, .forward: break
      }
    }
    await receive(response, originResponse: originResponse, originRequest: originRequest, transfer: transfer)
    return true
  }

  private func notModified(
    _ response: HTTPResponse, originResponse: OriginResponse, originRequest: OriginRequest, transfer: Transfer
  ) async -> Bool {
    if let conditions = originRequest.conditions, let stored = originRequest.stored {
      switch conditions.notModified(originResponse.rules, stored: stored.rules) {
      case .stored: break
      case .unclear: return false
      case .client:
        // The caller has the server's current response, and the cache does not.
        let outdated = stored.metadata.invalidated.hidden(by: nil)
        await update(stored, to: outdated, forKey: originRequest.storedKey, originRequest.cacheRequest.resource)
        await show(originRequest.hiddenKeys, originRequest.cacheRequest.resource)
        await receive(response, originResponse: originResponse, originRequest: originRequest.plain, transfer: transfer)
        return true
      }
    }
    guard let (entry, isStored) = await confirm(originRequest, originResponse, transfer) else { return false }
    await response.body.drainWhereShort()
    transfers.detach(transfer, isShareable: isReusable(entry.rules))
    transfer.publish(.success(.validated(entry, isStored: isStored)))
    return true
  }

  private func receive(
    _ response: HTTPResponse, originResponse: OriginResponse, originRequest: OriginRequest, transfer: Transfer
  ) async {
    let metadata = await metadata(toStore: originResponse, originRequest)
    let discards = metadata == nil && !transfer.isOutdated
    let awaitsParser = transfer.awaitsParser(status: response.status)
    if discards, !awaitsParser { await discardOutdated(originRequest, originResponse) }
    var head = TransferHead(
      status: response.status, fields: response.fields, length: HTTPCache.length(of: response), metadata: metadata)
    if metadata == nil, isStorable(originResponse, originRequest) {
      head.failure = originResponse.metadata(originRequest.cacheRequest)
    }
    if originRequest.purpose == .completion { limitToRequestedRange(&head, originRequest.cacheRequest) }
    var pump = Pump(
      engine: self, transfer: transfer, originRequest: originRequest, originResponse: originResponse, head: head)
    pump.discardsStored = discards && awaitsParser
    await pump.run(response.body)
  }

  /// True if a response that was just received can be used for other requests too.
  func isReusable(_ rules: StoredRules) -> Bool {
    let context = LookupContext(now: options.now())
    return switch LookupDecision.of(RequestRules(method: .get, fields: [:]), stored: rules, context) {
    case .reuse, .reuseWhileRevalidating: true
    case .validate, .forward, .unsatisfiable: false
    }
  }

  /// The content's length, if the head states it.
  static func length(of response: HTTPResponse) -> Int? {
    response.status == 204 || response.status == 304 ? 0 : response.body.length
  }
}
