package import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPCache {
  /// Removes what is stored for a request: its response, or all variants of its URL. Responses that are being received
  /// are not stored.
  package func removeContent(of request: HTTPRequest) async throws(CacheError) {
    if transfers.isSuspended { throw .suspended }
    let cacheRequest = await cacheRequest(request, .standard, .none)
    sharedCache?.noteInvalidation(of: cacheRequest.resource)
    transfers.markOutdated { $0 == cacheRequest.key }
    let former = ResourceKey.former(request.url.absoluteString).map { $0 + cacheRequest.caller }
    try await records.run(cacheRequest.key) { () async throws(CacheError) in
      for key in [cacheRequest.key, former] {
        guard let key else { continue }
        let variants = try await cache.entry(forKey: key)?.metadata.variants ?? []
        try await forget(key)
        for variant in variants { try await forget(variant.key) }
      }
    }
  }

  /// Removes everything. Responses that are being received are not stored.
  package func removeAll() async throws(CacheError) {
    if transfers.isSuspended { throw .suspended }
    sharedCache?.noteInvalidationOfAll()
    transfers.markOutdated { _ in true }
    // Waits for responses that are being stored now; nothing else of these transfers is stored.
    await records.settled()
    try await cache.removeAll()
    callers.forgetSalt()
    knownCallers.forget()
  }

  /// The response to a request; with `ignoresStoredResponse` from the network, without a condition.
  ///
  /// - Parameter isParsed: whether content is stored only after a parser has accepted it
  ///   (``CachedResponse/parserVerdict``).
  func respond(
    _ request: HTTPRequest, _ policy: ContentPolicy, _ override: FreshnessOverride, ignoresStoredResponse: Bool,
    isParsed: Bool
  ) async throws(HTTPTransportError) -> CachedResponse {
    try await unlessSuspended { () async throws(HTTPTransportError) in
      var cacheRequest = await cacheRequest(request, policy, override)
      cacheRequest.isParsed = isParsed
      if ignoresStoredResponse {
        cacheRequest.ignoresStoredResponse = true
        cacheRequest.canShareTransfer = false
      }
      return try await respond(to: cacheRequest)
    }
  }
}
