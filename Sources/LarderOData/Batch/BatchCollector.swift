import LarderHTTP

/// Collects the events of a multipart batch into parts.
struct BatchCollector {
  private(set) var requests: [BatchRequestPart] = []
  private(set) var responses: [BatchResponsePart] = []
  private let limits: BatchLimits
  private var head: BatchMessage?
  private var body: [UInt8] = []
  private var changeSet: (requests: [BatchRequest], responses: [BatchResponse])?

  init(limits: BatchLimits) { self.limits = limits }

  mutating func take(_ event: BatchEvent) throws(BatchError) {
    switch event {
    case .changeSetBegan: changeSet = ([], [])
    case .message(let message): head = message
    case .content(let bytes):
      guard bytes.count <= limits.bodyBytes - body.count else {
        throw BatchError(.tooLarge(what: "bytes in a part's content", limit: limits.bodyBytes), part: partNumber)
      }
      if body.isEmpty { body = bytes } else { body.append(contentsOf: bytes) }
    case .messageEnded: endMessage()
    case .changeSetEnded:
      guard let ended = changeSet else { return }
      changeSet = nil
      if ended.responses.isEmpty { requests.append(.changeSet(ended.requests)) }
      if ended.requests.isEmpty { responses.append(.changeSet(ended.responses)) }
    }
  }

  /// Keeps the complete members of a truncated change set.
  mutating func keepTruncatedChangeSet() {
    guard let truncated = changeSet, !truncated.responses.isEmpty else { return }
    changeSet = nil
    responses.append(.changeSet(truncated.responses))
  }

  private var partNumber: String {
    let part = max(requests.count, responses.count) + 1
    return changeSet.map { "\(part).\(max($0.requests.count, $0.responses.count) + 1)" } ?? "\(part)"
  }

  private mutating func endMessage() {
    guard let head else { return }
    switch head.start {
    case .request(let method, let url):
      var fields = head.fields
      fields[.contentID] = nil
      let request = BatchRequest(id: head.id, method: method, url: url, fields: fields, body: body)
      if changeSet == nil { requests.append(.single(request)) } else { changeSet?.requests.append(request) }
    case .response(let status):
      let response = BatchResponse(id: head.id, status: status, fields: head.fields, body: body)
      if changeSet == nil { responses.append(.single(response)) } else { changeSet?.responses.append(response) }
    }
    self.head = nil
    body = []
  }
}

extension MultipartBatchReader {
  /// Reads a whole batch response.
  package static func responses(
    _ body: [UInt8], contentType: String, limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> [BatchResponsePart] {
    let parsed = try wholeResponses(body, contentType: contentType, limits: limits)
    if let error = parsed.error { throw error }
    return parsed.parts
  }

  /// Reads the complete parts of a batch response, the error that ended it early, and whether its last boundary was
  /// read.
  static func wholeResponses(
    _ body: [UInt8], contentType: String, limits: BatchLimits
  ) throws(BatchError) -> (parts: [BatchResponsePart], error: BatchError?, isClosed: Bool) {
    var reader = try MultipartBatchReader(contentType: contentType, limits: limits)
    let (collector, error) = collect(body, with: &reader, limits: limits)
    guard collector.requests.flatMap(\.requests).isEmpty else {
      throw BatchError(.malformedLine("a request among responses"))
    }
    // An empty change set contains neither requests nor responses; it is read as a response to one.
    return (collector.responses, error, error == nil && reader.isClosed)
  }

  /// Reads a whole batch request.
  package static func requests(
    _ body: [UInt8], contentType: String, limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> [BatchRequestPart] {
    var reader = try MultipartBatchReader(contentType: contentType, limits: limits)
    let (collector, error) = collect(body, with: &reader, limits: limits)
    if let error { throw error }
    guard collector.responses.flatMap(\.responses).isEmpty else {
      throw BatchError(.malformedLine("a response among requests"))
    }
    return collector.requests
  }

  private static func collect(
    _ body: [UInt8], with reader: inout MultipartBatchReader, limits: BatchLimits
  ) -> (BatchCollector, BatchError?) {
    var collector = BatchCollector(limits: limits)
    do throws(BatchError) {
      for event in try reader.read(body) { try collector.take(event) }
      for event in try reader.finish() { try collector.take(event) }
      return (collector, nil)
    } catch {
      // The collector's own errors occur after the reader's last event, or the limits reject further parts.
      do throws(BatchError) { for event in reader.completed() { try collector.take(event) } } catch {
        return (collector, error)
      }
      collector.keepTruncatedChangeSet()
      return (collector, error)
    }
  }
}
