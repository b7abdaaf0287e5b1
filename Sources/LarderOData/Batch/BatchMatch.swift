/// Finds the responses to the parts of a `$batch`.
///
/// Ids decide: a response belongs to the request with the same Content-ID (multipart) or `id` (JSON). Services must
/// echo ids in change sets ([MS-ODATA] 2.2.7.6.6, Protocol 4.0 §11.7.4), from 4.01 on in all parts that have one
/// (Protocol 4.01 §11.7.7.5), and in JSON always (JSON Format 4.01 §19.3). A response without an id is matched by its
/// position only if the multipart response is as long as the request and no id contradicts the order: then it matches
/// the request part by part (Protocol 4.01 §11.7.7.6). All other requests stay without a response: they may have been
/// executed.
struct BatchMatch {
  let requests: [BatchRequestPart]
  /// Whether the response is complete, not truncated.
  var isComplete = true
  /// The service stops at the first error and returns nothing for the parts after it (Protocol 4.01 §8.2.8.3,
  /// §11.7.7.5). False before V4, and if the request asks the service to continue.
  var stopsAtError = false
  /// Parts of a truncated response are matched with the first requests unless an id contradicts.
  var usesPrefix = false

  /// The indices of the parts that use each request id: more than one if change sets reuse ids.
  private let places: [String: Set<Int>]

  init(_ requests: [BatchRequestPart]) {
    self.requests = requests
    var places: [String: Set<Int>] = [:]
    for (place, request) in requests.enumerated() {
      for id in request.requests.compactMap({ BatchMatch.id($0.id) }) { places[id, default: []].insert(place) }
    }
    self.places = places
  }

  /// Returns the responses of a multipart batch: one slot for each request part, nil if it has no response, or none for
  /// sure.
  func slots(of parts: [BatchResponsePart]) -> [BatchResult?] {
    let slots = isInOrder(parts) ? orderedSlots(of: parts) : self.slots(of: parts.flatMap(\.responses))
    guard usesPrefix, !isComplete else { return slots }
    return slots.enumerated().map { place, slot in
      slot ?? (place < parts.count ? prefixSlot(parts[place], at: place) : nil)
    }
  }

  private func orderedSlots(of parts: [BatchResponsePart]) -> [BatchResult?] {
    requests.enumerated().map { place, request in
      guard place < parts.count else { return .notProcessed }
      let partResponses = parts[place].responses
      return slot(partResponses, to: request, without: repeatedIDs(partResponses), usesOrder: true)
    }
  }

  /// The result of the part at the same position as its request, in a truncated response.
  private func prefixSlot(_ part: BatchResponsePart, at place: Int) -> BatchResult? {
    let partResponses = part.responses
    let fits = partResponses.allSatisfy { BatchMatch.id($0.id).map { places[$0]?.contains(place) ?? false } ?? true }
    guard fits, let first = partResponses.first else { return nil }
    switch requests[place] {
    case .single: return partResponses.count == 1 ? .single(first) : nil
    case .changeSet(let members):
      guard partResponses.count <= members.count else { return nil }
      if partResponses.count == 1, first.isError { return .changeSetFailed(first) }
      if partResponses.count == members.count { return .changeSet(partResponses) }
      return .changeSetPartly(partResponses + Array(repeating: nil, count: members.count - partResponses.count))
    }
  }

  /// Returns the responses matched by their ids alone, in any order.
  func slots(of responses: [BatchResponse]) -> [BatchResult?] {
    let unclear = repeatedIDs(responses)
    var responsesByPlace: [Int: [BatchResponse]] = [:]
    for response in responses {
      guard let named = BatchMatch.id(response.id).flatMap({ places[$0] }), named.count == 1, let place = named.first
      else { continue }
      responsesByPlace[place, default: []].append(response)
    }
    var slots = requests.enumerated().map { place, request in
      slot(responsesByPlace[place] ?? [], to: request, without: unclear, usesOrder: false)
    }
    // Exactly the parts up to the first error have responses: the service stopped there.
    let answered = slots.prefix { $0 != nil && $0?.isPartly == false }.count
    let isProven = isComplete && stopsAtError && responsesByPlace.values.reduce(0) { $0 + $1.count } == responses.count
    if isProven, unclear.isEmpty, answered > 0, slots[answered...].allSatisfy({ $0 == nil }),
      slots.prefix(answered).firstIndex(where: { $0?.isError == true }) == answered - 1
    {
      for place in answered..<slots.count { slots[place] = .notProcessed }
    }
    return slots
  }

  /// Whether each part is at the position of its request: all parts, or the parts up to the error at which the service
  /// stopped.
  private func isInOrder(_ parts: [BatchResponsePart]) -> Bool {
    if parts.count < requests.count {
      let firstError = parts.firstIndex { $0.responses.contains(where: \.isError) }
      guard isComplete, stopsAtError, firstError != nil, firstError == parts.count - 1 else { return false }
    }
    guard parts.count <= requests.count, isComplete || parts.count == requests.count else { return false }
    return parts.enumerated().allSatisfy { place, part in
      let hasIDs = requests[place].requests.contains { $0.id != nil }
      let fits = part.responses.allSatisfy { response in
        guard let id = BatchMatch.id(response.id) else { return true }
        return places[id].map { $0.contains(place) } ?? !hasIDs
      }
      if case .single = requests[place] { return fits && part.responses.count == 1 }
      return fits
    }
  }

  private func slot(
    _ responses: [BatchResponse], to request: BatchRequestPart, without unclear: Set<String>, usesOrder: Bool
  ) -> BatchResult? {
    let clear = responses.filter { BatchMatch.id($0.id).map { !unclear.contains($0) } ?? true }
    switch request {
    case .single: return clear.first.map(BatchResult.single)
    case .changeSet(let members):
      // A change set that failed has one response: instead of the multipart, or alone inside it.
      if isComplete || usesOrder, responses.count == 1, let only = clear.first, only.isError {
        return .changeSetFailed(only)
      }
      if usesOrder, clear.count == members.count, clear.allSatisfy({ $0.id == nil }) { return .changeSet(clear) }
      var byID: [String: BatchResponse] = [:]
      for response in clear { if let id = BatchMatch.id(response.id) { byID[id] = response } }
      // Requests without an id have the responses without one, in their order.
      var unnamed = clear.filter { $0.id == nil }[...]
      let isInOrder = usesOrder && unnamed.count == members.filter { $0.id == nil }.count
      let ordered = members.map { member in
        guard let id = BatchMatch.id(member.id) else { return isInOrder ? unnamed.popFirst() : nil }
        return byID[id]
      }
      let matched = ordered.compactMap { $0 }
      if matched.isEmpty { return nil }
      return matched.count == members.count ? .changeSet(matched) : .changeSetPartly(ordered)
    }
  }

  private func repeatedIDs(_ responses: [BatchResponse]) -> Set<String> {
    var ids: Set<String> = []
    return Set(responses.compactMap { BatchMatch.id($0.id) }.filter { !ids.insert($0).inserted })
  }

  /// Normalizes an id for comparison: some services write it in the angle brackets of mail (RFC 2045 §7).
  private static func id(_ text: String?) -> String? {
    guard let text, text.count > 2, text.hasPrefix("<"), text.hasSuffix(">") else { return text }
    return String(text.dropFirst().dropLast())
  }
}

extension BatchMatch {
  /// Returns the problem if requests have no response: an id that no request has, or the first such request.
  func problem(_ slots: [BatchResult?], _ responses: [BatchResponse]) -> BatchError? {
    guard let place = slots.firstIndex(where: { $0 == nil || $0?.isPartly == true }) else { return nil }
    let unclear = repeatedIDs(responses)
    let unmatchedID = responses.lazy.compactMap { BatchMatch.id($0.id) }.first {
      places[$0] == nil || unclear.contains($0)
    }
    if let unmatchedID { return BatchError(.unknownID(unmatchedID), part: "\(place + 1)") }
    let expected = requests.reduce(0) { $0 + $1.requests.count }
    var part = "\(place + 1)"
    if case .changeSetPartly(let members)? = slots[place], let member = members.firstIndex(of: nil) {
      part += ".\(member + 1)"
    }
    return BatchError(.countMismatch(expected: expected, found: responses.count), part: part)
  }
}

extension BatchResult {
  /// Whether the part is a change set in which some requests have no response.
  fileprivate var isPartly: Bool { if case .changeSetPartly = self { true } else { false } }

  fileprivate var isError: Bool {
    switch self {
    case .single(let response), .changeSetFailed(let response): response.isError
    case .changeSet(let responses): responses.contains(where: \.isError)
    case .changeSetPartly(let responses): responses.contains { $0?.isError == true }
    case .notProcessed: false
    }
  }
}
