import LarderHTTP

/// Reads a `$batch` in the JSON format, request or response, from chunks of any size (OData JSON Format 4.01 §19).
///
/// It keeps one item at a time. JSON content is returned byte for byte; strings of `text/*` and base64url of other
/// media types are decoded.
package struct JSONBatchReader {
  /// One item of `requests` or `responses`.
  package enum Item: Sendable, Hashable {
    /// A request and its atomicity group.
    case request(BatchRequest, atomicityGroup: String?)
    /// A response.
    case response(BatchResponse)
  }

  /// The place to which the next token belongs.
  private enum Place {
    case start, root, rootMember, list, item, itemMember, headers, headerValue, dependsOn, body, end
    case skipped(in: Level)
  }

  private enum Level { case root, item }

  private let limits: BatchLimits
  private var scanner: JSONScanner
  private var place = Place.start
  /// The number of open brackets in the value that is skipped or captured.
  private var open = 0
  private var draft = JSONBatchDraft()
  private var member = ""
  private var isResponse = false
  private var hasList = false
  private var itemCount = 0
  /// The text from `rawBase` on that may still be needed for a content.
  private var raw: [UInt8] = []
  private var rawBase = 0
  private var received = 0
  /// The end of the last token: the beginning of a content may follow it.
  private var tokenEnd = 0
  private var bodyStart: Int?
  private var completedItems: [Item] = []

  /// Creates a reader.
  package init(limits: BatchLimits = BatchLimits()) {
    self.limits = limits
    var json = JSONLimits()
    json.stringBytes = limits.bodyBytes
    scanner = JSONScanner(limits: json)
  }

  /// Reads a chunk and returns the items that it completed; after an error ``completed()`` returns those before the
  /// error.
  package mutating func read(_ chunk: [UInt8]) throws(BatchError) -> [Item] {
    raw.append(contentsOf: chunk)
    received += chunk.count
    scanner.feed(chunk)
    try run()
    if let bodyStart, received - bodyStart > limits.bodyBytes {
      throw BatchError(.tooLarge(what: "bytes in a part's content", limit: limits.bodyBytes), part: "\(itemCount)")
    }
    let needed = bodyStart ?? tokenEnd
    raw.removeFirst(max(0, min(raw.count, needed - rawBase)))
    rawBase = needed
    return completed()
  }

  /// Returns the items that were read before an error and not returned yet; empty without an error.
  package mutating func completed() -> [Item] {
    defer { completedItems = [] }
    return completedItems
  }

  /// Ends the text: no chunk follows.
  package mutating func finish() throws(BatchError) -> [Item] {
    scanner.finish()
    try run()
    guard hasList else { throw malformed("it has no member 'requests' or 'responses'") }
    return completed()
  }

  /// Reads a whole batch response.
  package static func responses(
    _ body: [UInt8], limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> [BatchResponse] {
    let (responses, error) = try wholeResponses(body, limits: limits)
    if let error { throw error }
    return responses
  }

  /// Reads the complete items of a batch response, and the error that ended it early.
  static func wholeResponses(
    _ body: [UInt8], limits: BatchLimits
  ) throws(BatchError) -> (responses: [BatchResponse], error: BatchError?) {
    let (items, error) = items(body, limits: limits)
    var responses: [BatchResponse] = []
    for item in items {
      guard case .response(let response) = item else { throw BatchError(.malformedJSON("it contains requests")) }
      responses.append(response)
    }
    return (responses, error)
  }

  /// Reads a whole batch request; adjacent requests of one atomicity group form one part.
  package static func requests(
    _ body: [UInt8], limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> [BatchRequestPart] {
    var parts: [BatchRequestPart] = []
    var openGroup: String?
    let (items, error) = items(body, limits: limits)
    if let error { throw error }
    for item in items {
      guard case .request(let request, let group) = item else {
        throw BatchError(.malformedJSON("it contains responses"))
      }
      if let group, group == openGroup, case .changeSet(let members) = parts.last {
        parts[parts.count - 1] = .changeSet(members + [request])
      } else {
        parts.append(group == nil ? .single(request) : .changeSet([request]))
      }
      openGroup = group
    }
    return parts
  }

  private static func items(_ body: [UInt8], limits: BatchLimits) -> ([Item], BatchError?) {
    var reader = JSONBatchReader(limits: limits)
    var items: [Item] = []
    do throws(BatchError) {
      items = try reader.read(body)
      items += try reader.finish()
      return (items, nil)
    } catch {
      return (items + reader.completed(), error)
    }
  }

  private mutating func run() throws(BatchError) {
    while let token = try nextToken() {
      tokenEnd = end(of: token)
      if let item = try step(token) { completedItems.append(item) }
    }
  }

  private mutating func nextToken() throws(BatchError) -> JSONToken? {
    do throws(JSONError) {
      return try scanner.next()
    } catch {
      let problem: BatchError.Problem = error.problem == .unexpectedEnd ? .truncated : .malformedJSON("\(error)")
      throw BatchError(problem, part: itemCount > 0 ? "\(itemCount)" : nil, offset: error.offset)
    }
  }

  private func malformed(_ what: String) -> BatchError {
    BatchError(.malformedJSON(what), part: itemCount > 0 ? "\(itemCount)" : nil, offset: received)
  }
}

extension JSONBatchReader {
  private mutating func step(_ token: JSONToken) throws(BatchError) -> Item? {
    switch place {
    case .start:
      guard token.kind == .beginObject else { throw malformed("it is not an object") }
      place = .root
    case .root:
      member = scanner.string(token)
      place = token.kind == .name ? .rootMember : .end
    case .rootMember: try rootMember(token)
    case .list:
      if token.kind == .endArray {
        place = .root
      } else {
        try beginItem(token)
      }
    case .item:
      member = scanner.string(token)
      place = .itemMember
      if token.kind == .endObject { return try endItem() }
    case .itemMember: try itemMember(token)
    case .headers:
      member = scanner.string(token)
      place = token.kind == .name ? .headerValue : .item
    case .headerValue:
      draft.fields.append(HTTPFieldName(member), try text(token) ?? "")
      place = .headers
    case .dependsOn:
      if token.kind == .endArray { place = .item } else if let id = try text(token) { draft.dependsOn.append(id) }
    case .body: if isClosed(by: token) { endBody(at: end(of: token)) }
    case .skipped(let level): if isClosed(by: token) { place = level == .root ? .root : .item }
    case .end: break
    }
    return nil
  }

  private mutating func rootMember(_ token: JSONToken) throws(BatchError) {
    guard member == "requests" || member == "responses" else {
      place = .root
      skip(token, in: .root)
      return
    }
    guard token.kind == .beginArray, !hasList else { throw malformed("'\(member)' is not an array, or occurs twice") }
    hasList = true
    isResponse = member == "responses"
    place = .list
  }

  private mutating func beginItem(_ token: JSONToken) throws(BatchError) {
    itemCount += 1
    guard token.kind == .beginObject else { throw malformed("an item is not an object") }
    guard itemCount <= limits.parts else { throw BatchError(.tooLarge(what: "parts", limit: limits.parts)) }
    draft = JSONBatchDraft()
    place = .item
  }

  private mutating func itemMember(_ token: JSONToken) throws(BatchError) {
    place = .item
    switch member {
    case "id": draft.id = try text(token)
    case "atomicityGroup": draft.group = try text(token)
    case "method": draft.method = try text(token)
    case "url": draft.url = try text(token)
    case "if": draft.condition = try text(token)
    case "status": draft.status = try text(token).flatMap(Int.init)
    case "headers" where token.kind == .beginObject: place = .headers
    case "dependsOn" where token.kind == .beginArray: place = .dependsOn
    case "dependsOn": draft.dependsOn = try text(token).map { [$0] } ?? []
    case "body":
      let isString = token.kind == .string
      let start = scanner.offset(of: token) - (isString ? 1 : 0)
      bodyStart = start
      draft.bodyText = isString ? Array(scanner.string(token).utf8) : nil
      draft.isNull = token.kind == .null
      if token.kind == .beginObject || token.kind == .beginArray {
        open = 1
        place = .body
      } else {
        endBody(at: end(of: token))
      }
    default: skip(token, in: .item)
    }
  }

  /// A string's text, or a number's characters; nil for null.
  private func text(_ token: JSONToken) throws(BatchError) -> String? {
    switch token.kind {
    case .string, .number: return scanner.string(token)
    case .null: return nil
    default: throw malformed("'\(member)' is not a string")
    }
  }

  private mutating func skip(_ token: JSONToken, in level: Level) {
    guard token.kind == .beginObject || token.kind == .beginArray else { return }
    open = 1
    place = .skipped(in: level)
  }

  private mutating func isClosed(by token: JSONToken) -> Bool {
    switch token.kind {
    case .beginObject, .beginArray: open += 1
    case .endObject, .endArray: open -= 1
    default: break
    }
    return open == 0
  }

  fileprivate func end(of token: JSONToken) -> Int {
    scanner.offset(of: token) + (token.end - token.start) + (token.kind == .string || token.kind == .name ? 1 : 0)
  }

  private mutating func endBody(at end: Int) {
    place = .item
    guard let start = bodyStart else { return }
    bodyStart = nil
    let range = (start - rawBase)..<(end - rawBase)
    draft.body = Array(raw[range.clamped(to: 0..<raw.count)])
  }

  private mutating func endItem() throws(BatchError) -> Item {
    place = .list
    let body: [UInt8]
    do throws(BatchError.Problem) {
      body = try draft.content()
    } catch {
      throw BatchError(error, part: "\(itemCount)", offset: received)
    }
    if isResponse {
      guard let status = draft.status, (100...999).contains(status) else { throw malformed("a response has no status") }
      return .response(
        BatchResponse(id: draft.id, status: status, fields: draft.fields, body: body, atomicityGroup: draft.group))
    }
    guard let method = draft.method, let url = draft.url else { throw malformed("a request has no method or no URL") }
    let request = BatchRequest(
      id: draft.id, method: HTTPMethod(rawValue: method.uppercased()), url: url, fields: draft.fields, body: body,
      dependsOn: draft.dependsOn, condition: draft.condition)
    return .request(request, atomicityGroup: draft.group)
  }
}
