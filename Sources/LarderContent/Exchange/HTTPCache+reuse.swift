import LarderHTTP
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPCache {
  /// The answer to a plain request, where an entry is one as it is; nil where more has to be looked at.
  func hit(_ entry: CacheEntry, _ question: PlainRequest, _ url: URL, _ resource: String) async -> CachedResponse? {
    guard let stored = answer(of: entry, to: question) else { return nil }
    if stored.isHead || entry.bytesInMemory != nil { return CachedResponse(stored, url) }
    do {
      let content = StoredContent(entry)
      try await content.start(checking: options.checkedFirst)
      return CachedResponse(stored, url, body(content, resource))
    } catch {
      // The failure is met again on the long way, which drops the entry.
      return nil
    }
  }

  /// Answers with a stored response: whole, in ranges, or 304, as the request's own conditions want it.
  ///
  /// Where its content cannot be read, the network is asked as if there were none.
  func reuse(
    _ found: Found, _ inquiry: CacheRequest, _ freshness: Freshness, isFinal: Bool, status: CacheStatus? = nil,
    origin: ContentOrigin? = nil
  ) async throws(HTTPTransportError) -> CachedResponse {
    guard let entry = found.entry, var response = await response(of: entry, inquiry, under: found.key) else {
      var inquiry = inquiry
      inquiry.ignoresStored = true
      inquiry.mayShare = false
      return try await answer(inquiry)
    }
    let age = max(0, freshness.ageInSeconds)
    response.fields[.age] = String(age)
    response.fields.append(.cacheStatus, text(status, freshness, hiddenBy: found.hiddenBy))
    let origin = origin ?? (entry.tier == .memory ? .memory : .disk)
    return CachedResponse(
      response: response, origin: origin, age: Int(clamping: age),
      revalidation: isFinal ? nil : Revalidation(engine: self, inquiry: inquiry),
      storing: origin != .validated || status?.isStored == true ? .stored : StoringMark(false), hiddenBy: found.hiddenBy
    )
  }

  /// What `Cache-Status` says of a stored response: by default of a hit.
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

  /// A stored response as it is sent; nil where its content cannot be read, or is not what is asked for.
  private func response(of entry: CacheEntry, _ inquiry: CacheRequest, under key: String) async -> HTTPResponse? {
    let metadata = entry.metadata
    let url = inquiry.request.url
    if inquiry.rules.isConditional {
      let outcome = ConditionalOutcome.of(inquiry.request.fields, metadata, entry.rules)
      if case .notModified(var fields) = outcome {
        // As the 200 would say it (RFC 9110 §8.6); a server that cannot leave it out would have to end the connection.
        if !entry.rules.isPartial { fields[.contentLength] = String(entry.length) }
        return HTTPResponse(status: 304, fields: fields, url: url)
      }
    }
    if inquiry.rules.method == .head {
      return HTTPResponse(status: metadata.status, fields: metadata.fields, url: url)
    }
    if inquiry.rules.hasRange || entry.rules.isPartial {
      switch RangeOutcome.of(inquiry.request.fields, entry, boundary: HTTPCache.boundary()) {
      case .whole: break
      case .fetch, .forward: return nil
      case .answer(let answer):
        let content = StoredContent(entry, answer.pieces, length: answer.length)
        guard let body = await body(content, inquiry.resource, under: key) else { return nil }
        return HTTPResponse(status: answer.status, fields: answer.fields, url: url, body: body)
      }
    }
    if let bytes = entry.bytesInMemory {
      return HTTPResponse(status: metadata.status, fields: metadata.fields, url: url, body: HTTPBodyStream(bytes))
    }
    guard let body = await body(StoredContent(entry), inquiry.resource, under: key) else { return nil }
    return HTTPResponse(status: metadata.status, fields: metadata.fields, url: url, body: body)
  }

  /// Content of an entry, of which what is checked first has been read; nil where that failed: the entry is then dropped.
  private func body(_ content: StoredContent, _ resource: String, under key: String) async -> HTTPBodyStream? {
    do throws(CacheError) {
      try await content.start(checking: options.checkedFirst)
    } catch {
      report(.read, resource, error)
      await remove(key, resource)
      return nil
    }
    return body(content, resource)
  }

  /// A stream of content that has been begun.
  private func body(_ content: StoredContent, _ resource: String) -> HTTPBodyStream {
    if let bytes = content.bytes { return HTTPBodyStream(bytes) }
    // Without a list of captures: with one, a closure would leave the reader's actor, and change threads twice a piece.
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

  /// The error of content that could not be read to its end.
  private func broken(_ resource: String, _ error: CacheError) -> HTTPTransportError {
    report(.read, resource, error)
    return .other("the cached content could not be read on: \(error)")
  }

  /// Separates the parts of a multipart: nothing that content would hold by chance.
  static func boundary() -> String { Digest.hexadecimal(Digest.randomBytes(16)) }

  func remove(_ key: String, _ resource: String) async {
    do throws(CacheError) { try await cache.removeEntry(forKey: key) } catch { report(.remove, resource, error) }
  }
}

extension HTTPFieldName {
  /// RFC 9111 §5.1.
  static let age: HTTPFieldName = "Age"
}
