import LarderHTTP

extension HTTPCache {
  /// Runs one exchange with the network, from the request to the end of the content, for all requests that share it.
  func run(_ transfer: Transfer, _ errand: OriginRequest) async {
    defer { transfers.remove(transfer) }
    var errand = errand
    while true {
      let sent = options.now()
      var response: HTTPResponse
      do {
        response = try await transport.send(errand.request)
        try response.check(answering: errand.request, isOwn: errand.isPlain)
      } catch {
        transfers.detach(transfer, isShareable: nil)
        return transfer.publish(.failure(error))
      }
      let came = options.now()
      response.addDate(came)
      let arrival = OriginResponse(response, requestTime: sent, responseTime: came)
      if await settle(response, arrival, errand, transfer) { return }
      // The response to the cache's own conditions or range was not usable: the caller's request is sent as it is.
      await response.body.drainWhereShort()
      errand = errand.plain
    }
  }

  /// Processes a response according to the purpose of the request. Returns false if the request must be sent again.
  private func settle(
    _ response: HTTPResponse, _ arrival: OriginResponse, _ errand: OriginRequest, _ transfer: Transfer
  ) async -> Bool {
    switch errand.purpose {
    case .plain:
      // The caller's copy is the server's. If the stored response has the same entity tag, it is too (RFC 9111 §4.3.4).
      if response.status == 304, arrival.rules.etag != nil { _ = await confirm(errand, arrival, transfer) }
    case .validation:
      guard response.status == 304 else { break }
      return await notModified(response, arrival, errand, transfer)
    case .completion:
      guard let stored = errand.stored else { break }
      let metadata = await metadata(of: arrival, confirming: stored, errand.inquiry)
      switch CompletionOutcome.of(metadata, arrival.rules, to: stored) {
      case .combine(let combination, let part):
        let completion = Completion(combination, stored, part, metadata, arrival.rules)
        return await complete(completion, response, arrival, errand, transfer)
      case .askAgain: return false
      case .replace, .forward: break
      }
    }
    await receive(response, arrival, errand, transfer)
    return true
  }

  private func notModified(
    _ response: HTTPResponse, _ arrival: OriginResponse, _ errand: OriginRequest, _ transfer: Transfer
  ) async -> Bool {
    if let conditions = errand.conditions, let stored = errand.stored {
      switch conditions.notModified(arrival.rules, stored: stored.rules) {
      case .stored: break
      case .unclear: return false
      case .client:
        // The caller has the server's current response, and the cache does not.
        let outdated = stored.metadata.invalidated.hidden(by: nil)
        await update(stored, to: outdated, forKey: errand.storedKey, errand.inquiry.resource)
        await show(errand.hiddenKeys, errand.inquiry.resource)
        await receive(response, arrival, errand.plain, transfer)
        return true
      }
    }
    guard let (entry, isStored) = await confirm(errand, arrival, transfer) else { return false }
    await response.body.drainWhereShort()
    transfers.detach(transfer, isShareable: isReusable(entry.rules))
    transfer.publish(.success(.validated(entry, isStored: isStored)))
    return true
  }

  private func receive(
    _ response: HTTPResponse, _ arrival: OriginResponse, _ errand: OriginRequest, _ transfer: Transfer
  ) async {
    let metadata = await metadata(toStore: arrival, errand)
    if metadata == nil, !transfer.isOutdated { await discardOutdated(errand, arrival) }
    var head = TransferHead(
      status: response.status, fields: response.fields, length: HTTPCache.length(of: response), metadata: metadata)
    if metadata == nil, isStorable(arrival, errand) { head.failure = arrival.metadata(errand.inquiry) }
    if errand.purpose == .completion { cut(&head, errand.inquiry) }
    var pump = Pump(engine: self, transfer: transfer, errand: errand, arrival: arrival, head: head)
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
