import HTTPCore
import Synchronization

extension HTTPCache {
  /// How much of a stored response is read at once; what is no longer is read before the answer is given.
  static let readStep = 1 << 16

  /// Answers with a stored response. Where its content cannot be read, the network is asked as if there were none.
  func reuse(
    _ found: Found, _ inquiry: Inquiry, _ freshness: Freshness, isFinal: Bool, status: CacheStatus? = nil,
    origin: ContentOrigin? = nil
  ) async throws(HTTPTransportError) -> CachedAnswer {
    guard let entry = found.entry, let body = await body(of: entry, inquiry, under: found.key) else {
      var inquiry = inquiry
      inquiry.ignoresStored = true
      inquiry.mayShare = false
      return try await answer(inquiry)
    }
    let age = max(0, freshness.ageInSeconds)
    var fields = entry.metadata.fields
    fields["Age"] = String(age)
    fields.append(
      .cacheStatus, status?.text ?? CacheStatus.hit(options.name, timeToLive: freshness.remainingSeconds))
    let response = HTTPResponse(
      status: entry.metadata.status, fields: fields, url: inquiry.request.url, body: body)
    let revalidation = isFinal ? nil : Revalidation(engine: self, inquiry: inquiry)
    return CachedAnswer(
      response: response, origin: origin ?? (entry.tier == .memory ? .memory : .disk), age: Int(clamping: age),
      revalidation: revalidation)
  }

  /// An entry's content, with its beginning read already; nil where that failed: the entry is then dropped.
  private func body(of entry: CacheEntry, _ inquiry: Inquiry, under key: String) async -> HTTPBodyStream? {
    if inquiry.rules.method == .head { return HTTPBodyStream([]) }
    if let bytes = entry.bytesInMemory { return HTTPBodyStream(bytes) }
    do throws(CacheError) {
      let first = try await entry.read(0..<min(entry.length, HTTPCache.readStep))
      if first.count == entry.length { return HTTPBodyStream(first) }
      return stream(entry, after: first, inquiry.resource)
    } catch {
      report(.read, inquiry.resource, error)
      await remove(key, inquiry.resource)
      return nil
    }
  }

  /// The rest is read as it is wanted.
  private func stream(_ entry: CacheEntry, after first: [UInt8], _ resource: String) -> HTTPBodyStream {
    let place = Mutex<(first: [UInt8]?, offset: Int)>((first, 0))
    return HTTPBodyStream(
      length: entry.length,
      next: { [self] in
        let (ready, range) = place.withLock { place in
          let ready = place.first.take()
          let start = place.offset
          place.offset = min(entry.length, start + (ready?.count ?? HTTPCache.readStep))
          return (ready, start..<place.offset)
        }
        if let ready { return ready }
        if range.isEmpty { return nil }
        do throws(CacheError) {
          return try await entry.read(range)
        } catch {
          report(.read, resource, error)
          throw HTTPTransportError.other("the cached content could not be read on: \(error)")
        }
      })
  }

  func remove(_ key: String, _ resource: String) async {
    do throws(CacheError) { try await cache.removeEntry(forKey: key) } catch { report(.remove, resource, error) }
  }
}
