import LarderHTTP
import LarderOData
import LarderService

/// What a server's response means for the caller and for the cache.
struct CacheOutcome: Sendable {
  /// The response that the caller receives.
  var response: ODataResponse
  /// The changes to apply to the cache.
  var changes: [CacheChange] = []

  /// Creates the outcome of a response to a plain or conditional request.
  ///
  /// - Parameters:
  ///   - keys: one key for each part; nil if the part does not use the cache.
  ///   - cached: what the cache held when the request was sent, one element for each part.
  init(
    _ serverResponse: ODataResponse, keys: [CacheKey?], cached: [TechnicalCacheEntry?], version: ODataVersion?
  ) throws(ODataServiceError) {
    response = serverResponse
    switch serverResponse {
    case .single(let single):
      let resolved = resolve(single, key: keys.first ?? nil, cached: cached.first ?? nil, version: version)
      // A 304 is an error if the store sent no condition. Without a key the condition is the caller's own.
      if resolved.isNotModified, resolved.payloadBytes.isEmpty, keys.first ?? nil != nil, (cached.first ?? nil) == nil {
        throw ODataServiceError(
          .malformedResponse("304 to a request without a condition"), operation: "read", method: .get, url: single.url,
          response: single)
      }
      response = .single(resolved)
    case .batch(var batch):
      for index in batch.slots.indices where index < keys.count {
        batch.slots[index] = resolve(
          batch.slots[index], key: keys[index], cached: index < cached.count ? cached[index] : nil, version: version)
      }
      response = .batch(batch)
    }
  }

  /// The outcome of an empty delta, which confirms the cached response as a 304 does.
  init(unchanged cached: TechnicalCacheEntry, key: CacheKey, deltaLink: String?, version: ODataVersion?) {
    var entry = cached
    if let deltaLink { entry.deltaLink = deltaLink }
    response = .single(CacheOutcome.notModified(entry, key: key, version: version))
    if entry.deltaLink != cached.deltaLink { changes = [.refresh(key, entry)] }
  }

  /// The part of the caller's response; adds the changes that follow from the server's part.
  private mutating func resolve(
    _ slot: ODataBatchResponse.Slot?, key: CacheKey?, cached: TechnicalCacheEntry?, version: ODataVersion?
  ) -> ODataBatchResponse.Slot? {
    guard let key else { return slot }
    switch slot {
    case .response(let single):
      return .response(resolve(single, key: key, cached: cached, version: version))
    case .failure(let error) where error.httpStatus == 304:
      guard let cached, error.isOfRequestedURL else { return slot }
      return .response(confirm(cached, by: error.response?.fields ?? [:], key: key, version: version))
    case .failure(let error) where CacheOutcome.meansGone(error):
      changes.append(.remove(key))
      return slot
    case .failure, .changeSet, nil: return slot
    }
  }

  private mutating func resolve(
    _ single: ODataSingleResponse, key: CacheKey?, cached: TechnicalCacheEntry?, version: ODataVersion?
  ) -> ODataSingleResponse {
    guard let key else { return single }
    if single.httpStatus == 304 || single.isNotModified {
      guard let cached else { return single }
      return confirm(cached, by: single.fields, key: key, version: version)
    }
    if let entry = CacheOutcome.entry(of: single) { changes.append(.store(key, entry)) }
    return single
  }

  private mutating func confirm(
    _ cached: TechnicalCacheEntry, by fields: HTTPFields, key: CacheKey, version: ODataVersion?
  ) -> ODataSingleResponse {
    var entry = cached
    entry.fields = CacheFields.updated(cached.fields, by: fields)
    if !CacheFields.areAlike(entry.fields, cached.fields) { changes.append(.refresh(key, entry)) }
    return CacheOutcome.notModified(entry, key: key, version: version)
  }

  private static func notModified(
    _ entry: TechnicalCacheEntry, key: CacheKey, version: ODataVersion?
  ) -> ODataSingleResponse {
    var response = entry.response(url: key.url, version: version)
    response.httpStatus = 304
    response.isNotModified = true
    return response
  }

  /// True if the service says that the resource no longer exists (404, 410). A web page does not come from the service,
  /// and the end of a redirect says nothing about the requested URL.
  static func meansGone(_ error: ODataServiceError) -> Bool {
    guard error.httpStatus == 404 || error.httpStatus == 410 else { return false }
    return !error.isForeign && error.isOfRequestedURL && error.response?.isWebPage != true
  }

  /// The response as the cache stores it; nil if it is not a complete representation.
  ///
  /// Responses with the status 200, 203 and 204 are stored. What another origin sends after a redirect, a web page, plain
  /// text in place of a payload, or an error of OData is not the resource. `Cache-Control` is ignored: the technical cache
  /// is the application's own memory of what it read, and services mark all their data `no-store`.
  static func entry(of response: ODataSingleResponse) -> TechnicalCacheEntry? {
    guard let status = response.httpStatus, status == 200 || status == 203 || status == 204 else { return nil }
    if response.sender.isOtherOrigin || response.isWebPage { return nil }
    var entry = TechnicalCacheEntry(
      status: status, fields: CacheFields.storable(response.fields), payload: response.payloadBytes, deltaLink: nil,
      sender: response.sender.url)
    guard !response.payloadBytes.isEmpty else { return entry }
    let survey = PayloadSurvey(response.payloadBytes, contentType: response.fields[.contentType])
    guard survey.isWhole, !survey.isErrorOrPage, response.hasFormatOfResource else { return nil }
    entry.deltaLink = survey.deltaLink
    return entry
  }
}
