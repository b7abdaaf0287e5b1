package import LarderHTTP

/// How a stored response, whole or in parts, can be used for a GET (RFC 9110 §14.2, RFC 9111 §3.3).
///
/// Preconditions other than `If-Range` are evaluated first (RFC 9110 §13.2.2), see ``ConditionalOutcome``. Whether the
/// stored response may be used at all is decided elsewhere.
package enum RangeOutcome: Hashable, Sendable {
  /// Send the stored response as it is: no range was requested, or none that applies.
  case whole
  /// Send this 206 or 416, created from the stored response.
  case respond(PartialResponse)
  /// Request the missing bytes from the server, and combine the response with the stored one.
  case fetch(RangeFetch)
  /// The stored response cannot be used: send the client's request as it is.
  case forward

  /// Decides for an entry. The boundary separates the parts if several ranges are sent: random, at most 70 characters.
  package static func of(
    _ request: HTTPFields, _ entry: CacheEntry, boundary: @autoclosure () -> String
  ) -> RangeOutcome {
    of(request, entry.metadata, entry.rules, length: entry.length, boundary: boundary())
  }

  /// Decides for metadata whose content has `length` bytes; the content may still be incomplete.
  package static func of(
    _ request: HTTPFields, _ metadata: CacheMetadata, _ rules: StoredRules, length: Int,
    boundary: @autoclosure () -> String
  ) -> RangeOutcome {
    let field = IfRange.holds(request, rules) ? request[.range].flatMap { RangeField($0) } : nil
    switch metadata.content {
    case .whole:
      // §14.2: ranges apply only to what would be a 200.
      guard let field, metadata.status == 200 else { return .whole }
      let storedRanges = ByteRangeSet([0..<length])
      return outcome(
        field.resolved(length: length), metadata: metadata, storedRanges: storedRanges, length: length,
        boundary: boundary()) ?? .whole
    case .parts(let ranges, let total):
      guard let storedRanges = ByteRangeSet(stored: ranges, count: length),
        total.map({ $0 >= storedRanges.end }) ?? true
      else {
        return .forward
      }
      let parts = StoredParts(
        request: request, metadata: metadata, rules: rules, storedRanges: storedRanges, total: total)
      return parts.outcome(field, boundary())
    }
  }

  /// The response for ranges that are all stored; nil if the field is ignored.
  fileprivate static func outcome(
    _ resolution: RangeField.Resolution, metadata: CacheMetadata, storedRanges: ByteRangeSet, length: Int?,
    boundary: @autoclosure () -> String
  ) -> RangeOutcome? {
    switch resolution {
    case .ignored: return nil
    case .unsatisfiable: return .respond(.unsatisfiable(metadata, length: length ?? 0))
    case .ranges(let ranges):
      let partial = PartialResponse(
        ranges, of: metadata, storedRanges: storedRanges, length: length, boundary: boundary())
      return partial.map { .respond($0) } ?? .forward
    }
  }
}

/// A response of which some ranges are stored, and a request for it.
private struct StoredParts {
  let request: HTTPFields
  let metadata: CacheMetadata
  let rules: StoredRules
  let storedRanges: ByteRangeSet
  let total: Int?

  func outcome(_ field: RangeField?, _ boundary: @autoclosure () -> String) -> RangeOutcome {
    guard let field else { return completion(of: total.map { storedRanges.missing(of: 0..<$0) }) }
    guard let total else {
      if let ranges = field.resolved(within: storedRanges) {
        return RangeOutcome.outcome(
          .ranges(ranges), metadata: metadata, storedRanges: storedRanges, length: nil, boundary: boundary())
          ?? .forward
      }
      return fetch(of: request[.range])
    }
    let resolution = field.resolved(length: total)
    if case .ranges(let ranges) = resolution {
      let missing = ranges.flatMap(storedRanges.missing)
      if !missing.isEmpty { return completion(of: missing) }
    }
    return RangeOutcome.outcome(
      resolution, metadata: metadata, storedRanges: storedRanges, length: total, boundary: boundary())
      ?? completion(of: storedRanges.missing(of: 0..<total))
  }

  /// Requests all missing pieces as one range, because several would be sent as a multipart. Nil means everything after
  /// the beginning.
  private func completion(of missing: [Range<Int>]?) -> RangeOutcome {
    guard let missing else {
      guard let first = storedRanges.ranges.first, first.lowerBound == 0 else { return .forward }
      return fetch(of: "bytes=\(first.upperBound)-")
    }
    guard let first = missing.map(\.lowerBound).min(), let end = missing.map(\.upperBound).max() else {
      return .forward
    }
    if end == total { return first == 0 ? .forward : fetch(of: "bytes=\(first)-") }
    return fetch(of: "bytes=\(first)-\(end - 1)")
  }

  /// Creates a request for a range. RFC 9111 §3.4: without a strong validator the response could not be combined.
  private func fetch(of range: String?) -> RangeOutcome {
    guard let range, let validator = StrongValidator(rules) else { return .forward }
    var fields = request
    fields[.ifNoneMatch] = nil
    fields[.ifModifiedSince] = nil
    fields[.range] = range
    // The text is sent as the server sent it, because some servers compare texts.
    if case .date = validator, let text = metadata.fields[.lastModified] {
      fields[.ifRange] = text
    } else {
      fields[.ifRange] = validator.ifRange
    }
    return .fetch(RangeFetch(fields: fields))
  }
}

/// A request for the missing part of a stored response (RFC 9111 §3.3, RFC 9110 §13.1.5).
package struct RangeFetch: Hashable, Sendable {
  /// The client's fields with `Range` for the missing part and `If-Range` for the stored one. The client's own
  /// `If-None-Match` and `If-Modified-Since` are omitted: they are evaluated after the response was received.
  package let fields: HTTPFields
}

extension ByteRangeSet {
  /// The position after the last byte.
  var end: Int { ranges.last?.upperBound ?? 0 }
}
