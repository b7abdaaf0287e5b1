package import LarderHTTP

/// What a stored response, whole or in parts, can do for a GET (RFC 9110 §14.2, RFC 9111 §3.3).
///
/// Preconditions other than `If-Range` come first (RFC 9110 §13.2.2), see ``ConditionalOutcome``; whether the stored
/// response may be used at all is decided elsewhere.
package enum RangeOutcome: Hashable, Sendable {
  /// Send the stored response as it is: no range was asked for, or none that counts.
  case whole
  /// Send this 206 or 416, made from what is stored.
  case answer(PartialResponse)
  /// Ask the server for what is missing, and combine the answer with what is stored.
  case fetch(RangeFetch)
  /// What is stored is of no use here: send the client's request as it is.
  case forward

  /// Decides for an entry. The boundary separates the parts where several ranges are sent: random, at most 70 characters.
  package static func of(
    _ request: HTTPFields, _ entry: CacheEntry, boundary: @autoclosure () -> String
  ) -> RangeOutcome {
    of(request, entry.metadata, entry.rules, length: entry.length, boundary: boundary())
  }

  /// Decides for metadata whose content has `length` bytes; it may still be on its way.
  package static func of(
    _ request: HTTPFields, _ metadata: CacheMetadata, _ rules: StoredRules, length: Int,
    boundary: @autoclosure () -> String
  ) -> RangeOutcome {
    let field = IfRange.holds(request, rules) ? request[.range].flatMap { RangeField($0) } : nil
    switch metadata.content {
    case .whole:
      // §14.2: only what would be a 200 has ranges.
      guard let field, metadata.status == 200 else { return .whole }
      let held = ByteRangeSet([0..<length])
      return answer(field.resolved(length: length), metadata, held, length: length, boundary()) ?? .whole
    case .parts(let ranges, let total):
      guard let held = ByteRangeSet(stored: ranges, count: length), total.map({ $0 >= held.end }) ?? true else {
        return .forward
      }
      let parts = StoredParts(request: request, metadata: metadata, rules: rules, held: held, total: total)
      return parts.outcome(field, boundary())
    }
  }

  /// The answer for ranges that are all there; nil where the field is ignored.
  fileprivate static func answer(
    _ resolution: RangeField.Resolution, _ metadata: CacheMetadata, _ held: ByteRangeSet, length: Int?,
    _ boundary: @autoclosure () -> String
  ) -> RangeOutcome? {
    switch resolution {
    case .ignored: return nil
    case .unsatisfiable: return .answer(.unsatisfiable(metadata, length: length ?? 0))
    case .ranges(let ranges):
      let answer = PartialResponse(ranges, of: metadata, held: held, length: length, boundary: boundary())
      return answer.map { .answer($0) } ?? .forward
    }
  }
}

/// A response of which some ranges are stored, and a request for it.
private struct StoredParts {
  let request: HTTPFields
  let metadata: CacheMetadata
  let rules: StoredRules
  let held: ByteRangeSet
  let total: Int?

  func outcome(_ field: RangeField?, _ boundary: @autoclosure () -> String) -> RangeOutcome {
    guard let field else { return completion(of: total.map { held.missing(of: 0..<$0) }) }
    guard let total else {
      if let ranges = field.resolved(within: held) {
        return RangeOutcome.answer(.ranges(ranges), metadata, held, length: nil, boundary()) ?? .forward
      }
      return fetch(of: request[.range])
    }
    let resolution = field.resolved(length: total)
    if case .ranges(let ranges) = resolution {
      let missing = ranges.flatMap(held.missing)
      if !missing.isEmpty { return completion(of: missing) }
    }
    return RangeOutcome.answer(resolution, metadata, held, length: total, boundary())
      ?? completion(of: held.missing(of: 0..<total))
  }

  /// Asks for all pieces in one range, since several would come as a multipart. Nil is everything behind the beginning.
  private func completion(of missing: [Range<Int>]?) -> RangeOutcome {
    guard let missing else {
      guard let first = held.ranges.first, first.lowerBound == 0 else { return .forward }
      return fetch(of: "bytes=\(first.upperBound)-")
    }
    guard let first = missing.map(\.lowerBound).min(), let end = missing.map(\.upperBound).max() else {
      return .forward
    }
    if end == total { return first == 0 ? .forward : fetch(of: "bytes=\(first)-") }
    return fetch(of: "bytes=\(first)-\(end - 1)")
  }

  /// RFC 9111 §3.4: without a strong validator the answer could not be combined.
  private func fetch(of range: String?) -> RangeOutcome {
    guard let range, let validator = StrongValidator(rules) else { return .forward }
    var fields = request
    fields[.ifNoneMatch] = nil
    fields[.ifModifiedSince] = nil
    fields[.range] = range
    // The text that the server has sent, since some compare texts.
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
  /// The client's fields with `Range` for what is missing and `If-Range` for what is stored, without the client's own
  /// `If-None-Match` and `If-Modified-Since`: they are evaluated once the answer is there.
  package let fields: HTTPFields
}

extension ByteRangeSet {
  /// The position behind the last byte.
  var end: Int { ranges.last?.upperBound ?? 0 }
}
