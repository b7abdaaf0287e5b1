import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ContentManager {
  /// The first response; nil if there is an intermediate one that cannot be used.
  func first<Value>(_ query: ContentQuery<Value>) async throws(ContentError) -> ContentResponse<Value>? {
    let cachedResponse = try await cachedResponse(for: query, isSettled: false, isParsed: true)
    if cachedResponse.isFinal { return try await final(cachedResponse, query) }
    do {
      let data = try await content(of: cachedResponse, query)
      return try response(cachedResponse, data, query)
    } catch {
      // The stored response is no success, unreadable or rejected by the parser: the final response decides.
      return nil
    }
  }

  /// The final response.
  func settled<Value>(_ query: ContentQuery<Value>) async throws(ContentError) -> ContentResponse<Value> {
    try await final(try await cachedResponse(for: query, isSettled: true, isParsed: true), query)
  }

  /// Creates the final response. New content that the parser rejects is not stored. If the content came from the cache,
  /// the server is requested once for a better response.
  private func final<Value>(
    _ cachedResponse: CachedResponse, _ query: ContentQuery<Value>
  ) async throws(ContentError) -> ContentResponse<Value> {
    let data: Data
    do {
      data = try await content(of: cachedResponse, query)
    } catch {
      // Stored content is damaged after its beginning; no caller has received any of it.
      guard query.policy != .cacheOnly, cachedResponse.origin.isStored, case .transport(.other) = error.category else {
        throw error
      }
      return try await replaced(query, error)
    }
    do {
      return try await judged(cachedResponse, data, query)
    } catch {
      guard query.policy != .cacheOnly, cachedResponse.origin.isStored else { throw error }
      return try await replaced(query, error)
    }
  }

  /// Parses the content. What is stored is replaced only if the parser accepts the content.
  private func judged<Value>(
    _ cachedResponse: CachedResponse, _ data: Data, _ query: ContentQuery<Value>
  ) async throws(ContentError) -> ContentResponse<Value> {
    let contentResponse: ContentResponse<Value>
    do {
      contentResponse = try response(cachedResponse, data, query)
    } catch {
      cachedResponse.parserVerdict?.reject()
      throw error
    }
    await cachedResponse.parserVerdict?.accept()
    return contentResponse
  }

  /// Sends the request without using the stored response. If the server does not respond, the stored response stays.
  private func replaced<Value>(
    _ query: ContentQuery<Value>, _ error: ContentError
  ) async throws(ContentError) -> ContentResponse<Value> {
    let cachedResponse: CachedResponse
    do {
      cachedResponse = try await self.cachedResponse(
        for: query, isSettled: true, isParsed: true, ignoresStoredResponse: true)
    } catch let failure {
      throw failure.isCancelled ? failure : error
    }
    return try await judged(cachedResponse, try await content(of: cachedResponse, query), query)
  }

  // MARK: One response

  /// The content in memory of a successful response.
  private func content<Value>(
    of cachedResponse: CachedResponse, _ query: ContentQuery<Value>
  ) async throws(ContentError) -> Data {
    try await check(cachedResponse, requestFields: query.fields)
    do {
      return Data(try await cachedResponse.response.body.collect(upTo: query.memoryByteLimit))
    } catch {
      switch error as? HTTPTransportError ?? .other("\(error)") {
      case .bodyTooLarge(let limit): throw ContentError(.tooLarge(limit: limit), cachedResponse)
      case let error: throw ContentError(.transport(error), cachedResponse)
      }
    }
  }

  private func response<Value>(
    _ cachedResponse: CachedResponse, _ data: Data, _ query: ContentQuery<Value>
  ) throws(ContentError) -> ContentResponse<Value> {
    let value: Value
    do {
      value = try query.parser(data)
    } catch {
      throw ContentError(.parse(error), cachedResponse, content: data.prefix(ContentError.contentByteLimit))
    }
    let response = cachedResponse.response
    return ContentResponse(
      value: value, data: data, httpStatus: response.status, fields: response.fields, url: response.url,
      origin: cachedResponse.origin, age: cachedResponse.age, hiddenBy: cachedResponse.hiddenBy,
      isIntermediate: !cachedResponse.isFinal)
  }

  /// Throws if a response is not a success. The error contains the beginning of its content.
  ///
  /// - Parameter requestFields: the query's fields. A partial response that they did not request would be mistaken for the
  ///   whole (RFC 9110 §15.3.7).
  func check(_ cachedResponse: CachedResponse, requestFields: HTTPFields) async throws(ContentError) {
    let response = cachedResponse.response
    if response.status == 206, !requestFields.contains("Range") {
      response.body.cancel()
      throw ContentError(
        .transport(.protocolViolation("the server sent 206 (Partial Content) for a request without a range")),
        cachedResponse)
    }
    if cachedResponse.origin == .generated {
      throw ContentError(.notCached, url: response.url, fields: response.fields)
    }
    if (200...299).contains(response.status) { return }
    throw ContentError(.status(response.status), cachedResponse, content: await beginning(of: response.body))
  }

  private func beginning(of body: HTTPBodyStream) async -> Data {
    var data = Data()
    do {
      for try await bytes in body {
        data.append(contentsOf: bytes.prefix(ContentError.contentByteLimit - data.count))
        if data.count == ContentError.contentByteLimit { break }
      }
    } catch {
      // The status describes the failure; the received part of the content is enough.
    }
    return data
  }

  // MARK: Redirects

  /// Requests a response from the engine, and follows redirects through it: each of them is stored by its own rules.
  ///
  /// - Parameters:
  ///   - isSettled: waits for the final response if there is an intermediate one.
  ///   - isParsed: whether new content is stored only after the query's parser has accepted it.
  func cachedResponse<Value>(
    for query: ContentQuery<Value>, isSettled: Bool, isParsed: Bool = false, ignoresStoredResponse: Bool = false
  ) async throws(ContentError) -> CachedResponse {
    let first = query.request
    var last = first
    do throws(HTTPTransportError) {
      guard query.followsRedirects else {
        return try await step(
          first, query: query, isSettled: isSettled, isParsed: isParsed, ignoresStoredResponse: ignoresStoredResponse)
      }
      return try await first.followingRedirects(
        response: { $0.response },
        // A redirect that is due for validation is renewed in the background, and the next response is returned at
        // once.
        passed: { $0.revalidation?.runInBackground() }, environment: engine.options.environment,
        { request async throws(HTTPTransportError) in
          last = request
          return try await step(
            request, query: query, isSettled: isSettled, isParsed: isParsed,
            ignoresStoredResponse: ignoresStoredResponse)
        })
    } catch {
      throw ContentError(.transport(error), url: last.url)
    }
  }

  private func step<Value>(
    _ request: HTTPRequest, query: ContentQuery<Value>, isSettled: Bool, isParsed: Bool, ignoresStoredResponse: Bool
  ) async throws(HTTPTransportError) -> CachedResponse {
    try request.validate()
    let cachedResponse = try await engine.respond(
      request, query.policy, query.freshness, ignoresStoredResponse: ignoresStoredResponse, isParsed: isParsed)
    guard isSettled, let revalidation = cachedResponse.revalidation else { return cachedResponse }
    cachedResponse.response.body.cancel()
    return try await revalidation.responseOrStale()
  }
}

extension ContentError {
  /// Creates an error for a response.
  init(_ category: Category, _ cachedResponse: CachedResponse, content: Data = Data()) {
    self.init(
      category, url: cachedResponse.response.url, httpStatus: cachedResponse.response.status,
      fields: cachedResponse.response.fields,
      content: content)
  }
}
