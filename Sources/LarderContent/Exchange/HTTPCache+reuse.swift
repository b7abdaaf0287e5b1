@_spi(Stores) import LarderCore
import LarderHTTP
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPCache {
  /// The response to a plain request, if an entry can be used as it is; nil if the full lookup is needed.
  func hit(_ entry: CacheEntry, plainRequest: PlainRequest, url: URL, resource: String) async -> CachedResponse? {
    guard let stored = storedResponse(of: entry, to: plainRequest) else { return nil }
    if stored.isHead || entry.bytesInMemory != nil { return CachedResponse(stored, url) }
    do {
      let content = EntryContent(entry)
      try await content.start(checking: options.checkedByteLimit)
      return CachedResponse(stored, url, body(content, resource))
    } catch {
      // The full lookup fails in the same way, and drops the entry.
      return nil
    }
  }

  /// Returns a stored response: whole, in ranges, or as a 304, depending on the request's own conditions.
  ///
  /// If its content cannot be read, the network is used as if nothing were stored.
  func reuse(
    _ lookup: CacheLookup, _ cacheRequest: CacheRequest, _ freshness: Freshness, isFinal: Bool,
    status: CacheStatus? = nil,
    origin: ContentOrigin? = nil
  ) async throws(HTTPTransportError) -> CachedResponse {
    guard let entry = lookup.entry, var response = await response(of: entry, cacheRequest, under: lookup.key) else {
      var cacheRequest = cacheRequest
      cacheRequest.ignoresStoredResponse = true
      cacheRequest.canShareTransfer = false
      return try await respond(to: cacheRequest)
    }
    let age = max(0, freshness.ageInSeconds)
    response.fields[.age] = String(age)
    response.fields.append(.cacheStatus, text(status, freshness, hiddenBy: lookup.hiddenBy))
    let origin = origin ?? (entry.tier == .memory ? .memory : .disk)
    return CachedResponse(
      response: response, origin: origin, age: .seconds(age),
      revalidation: isFinal ? nil : HTTPRevalidation(engine: self, cacheRequest: cacheRequest),
      storing: origin != .validated || status?.isStored == true ? .stored : StoringMark(false),
      hiddenBy: lookup.hiddenBy
    )
  }

  /// The text of `Cache-Status` for a stored response; by default, for a hit.
  private func text(_ status: CacheStatus?, _ freshness: Freshness, hiddenBy: Int?) -> String {
    guard let hiddenBy else {
      return status?.text ?? CacheStatus.hit(options.name, timeToLive: freshness.remainingSeconds)
    }
    var marked = CacheStatus(options.name)
    marked.isHit = true
    marked.timeToLive = freshness.remainingSeconds
    if let status { marked = status }
    marked.detail = Succession.detail(hiddenBy: hiddenBy)
    return marked.text
  }

  /// A stored response as it is sent. Nil if its content cannot be read, or is not what is requested.
  private func response(of entry: CacheEntry, _ cacheRequest: CacheRequest, under key: String) async -> HTTPResponse? {
    let metadata = entry.metadata
    let url = cacheRequest.request.url
    let isDecoded = expectsDecoded(entry.rules, cacheRequest.request.fields)
    if cacheRequest.rules.isConditional {
      let outcome = ConditionalOutcome.of(cacheRequest.request.fields, metadata, entry.rules)
      if case .notModified(var fields) = outcome {
        // The value of the 200 (RFC 9110 §8.6); a server that cannot omit the field would have to end the connection.
        if !entry.rules.isPartial, !isDecoded { fields[.contentLength] = String(entry.length) }
        return HTTPResponse(status: 304, fields: fields, url: url)
      }
    }
    if cacheRequest.rules.method == .head {
      return HTTPResponse(status: metadata.status, fields: metadata.fields, url: url)
    }
    // A range of the coded form does not apply to the decoded content, and may be ignored (RFC 9110 §14.2).
    if !isDecoded, cacheRequest.rules.hasRange || entry.rules.isPartial {
      switch RangeOutcome.of(cacheRequest.request.fields, entry, boundary: HTTPCache.boundary()) {
      case .whole: break
      case .fetch, .forward: return nil
      case .respond(let partial):
        let content = EntryContent(entry, partial.pieces, length: partial.length)
        guard let body = await body(content, cacheRequest.resource, under: key) else { return nil }
        return HTTPResponse(status: partial.status, fields: partial.fields, url: url, body: body)
      }
    }
    var response = HTTPResponse(status: metadata.status, fields: metadata.fields, url: url)
    if let bytes = entry.bytesInMemory {
      response.body = HTTPBodyStream(bytes)
    } else if let body = await body(EntryContent(entry), cacheRequest.resource, under: key) {
      response.body = body
    } else {
      return nil
    }
    return isDecoded ? decoded(response) : response
  }

  /// The content of an entry after its first bytes were read and checked. Nil if that failed: the entry is then
  /// removed.
  private func body(_ content: EntryContent, _ resource: String, under key: String) async -> HTTPBodyStream? {
    do throws(CacheError) {
      try await content.start(checking: options.checkedByteLimit)
    } catch {
      report(.cacheReadFailed, resource, error)
      await remove(key, resource)
      return nil
    }
    return body(content, resource)
  }

  /// The stream of content whose first bytes have been read.
  private func body(_ content: EntryContent, _ resource: String) -> HTTPBodyStream {
    if let bytes = content.bytes { return HTTPBodyStream(bytes) }
    // Without a capture list: with one, the closure would leave the reader's actor, and change threads twice for each
    // piece.
    let next: @Sendable () async throws -> [UInt8]? = {
      do throws(CacheError) { return try await content.next() } catch { throw self.broken(resource, error) }
    }
    guard content.isFile else { return HTTPBodyStream(length: content.length, next: next) }
    return HTTPBodyStream(
      length: content.length, next: next,
      whole: {
        do throws(CacheError) { return try await content.all() } catch { throw self.broken(resource, error) }
      })
  }

  /// The error if content could not be read to its end.
  private func broken(_ resource: String, _ error: CacheError) -> HTTPTransportError {
    report(.cacheReadFailed, resource, error)
    return .other("the rest of the cached content could not be read: \(error)")
  }

  /// A separator of the parts of a multipart: random text that content does not contain by chance.
  static func boundary() -> String { Hexadecimal.text(Digest.randomBytes(16)) }

  func remove(_ key: String, _ resource: String) async {
    do throws(CacheError) { try await cache.removeEntry(forKey: key) } catch {
      report(.cacheRemovalFailed, resource, error)
    }
  }
}

extension HTTPFieldName {
  /// The field name of RFC 9111 §5.1.
  static let age: HTTPFieldName = "Age"
}
