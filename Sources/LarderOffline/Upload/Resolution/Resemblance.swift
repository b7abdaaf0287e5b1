import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Services store values in forms of their own: in capitals, trimmed, padded, truncated, rounded. A similar value is not
// certain to be the same: it prevents a request from being sent twice, and a person must decide.
extension SentContent {
  /// The properties whose values an entity shares with one that was sent, also in a form that the service has changed;
  /// empty if none of them is distinctive.
  static func agreement(_ sent: QueuedEntity, _ received: ODataEntity) -> Set<String> {
    let agreeing = sent.properties.filter { property in
      guard property.key == nil, property.value.value != .null, let value = received[property.name] else {
        return false
      }
      return resembles(property.value.value, value)
    }
    return agreeing.contains { canBeRare($0.value.value) } ? Set(agreeing.map(\.name)) : []
  }

  /// Whether an entity may be the result of one that was sent: all values that it shows resemble those sent, and it
  /// shows at least one.
  static func resembles(_ sent: QueuedEntity, _ received: ODataEntity) -> Bool {
    let shown = sent.properties.filter { property in
      property.key == nil && property.value.value != .null && received[property.name].map { $0 != .null } ?? false
    }
    return !shown.isEmpty && shown.allSatisfy { resembles($0.value.value, received[$0.name] ?? .null) }
  }

  /// Whether a value can distinguish one entity from others at all.
  static func canBeRare(_ value: ODataValue) -> Bool {
    switch value {
    case .null, .boolean, .enumeration, .collection: false
    case .complex(let complex): complex.properties.contains { canBeRare($0.value) }
    case .string(let text): !text.isEmpty
    default: value.exactNumber.map { $0 != 0 } ?? true
    }
  }

  /// Whether a value may be the result of a service changing another one.
  static func resembles(_ sent: ODataValue, _ received: ODataValue) -> Bool {
    if equal(sent, received) { return true }
    switch (sent, received) {
    case (.string(let sent), .string(let received)): return resembles(sent, received)
    case (.complex(let sent), .complex(let received)):
      return sent.properties.allSatisfy { property in
        received.properties.first { $0.name == property.name }.map { resembles(property.value, $0.value) } ?? true
      }
    case (.collection(let sent), .collection(let received)):
      return sent.count == received.count
        && sent.allSatisfy { sentItem in received.contains { resembles(sentItem, $0) } }
    default: break
    }
    if let sent = seconds(sent), let received = seconds(received) { return abs(sent - received) <= 86_400 }
    if let sent = sent.exactNumber, let received = received.exactNumber,
      let left = Double(sent.description), let right = Double(received.description)
    {
      return abs(left - right) < max(1, abs(left) / 1000)
    }
    return false
  }

  /// Whether an entity is one that was sent, in a form that the service has changed: it shows at least one value, and each
  /// is a form of the value sent.
  static func isForm(_ received: ODataEntity, of sent: QueuedEntity) -> Bool {
    var hasAny = false
    for property in sent.properties where property.key == nil && property.value.value != .null {
      guard let value = received[property.name], value != .null else { continue }
      guard isForm(value, of: property.value.value) else { return false }
      hasAny = true
    }
    return hasAny
  }

  /// Whether a value is the form in which services store another: in capitals, trimmed, with the digits of its type. A
  /// value that is only close is not a form, nor is one that is truncated or rounded: values that do not fit a
  /// property's `MaxLength` and `Scale` are not sent, and a value that a service would shorten silently may come from
  /// another user.
  static func isForm(_ received: ODataValue, of sent: ODataValue) -> Bool {
    if equal(sent, received) { return true }
    switch (sent, received) {
    case (.string(let sent), .string(let received)): return folded(sent) == folded(received)
    case (.complex(let sent), .complex(let received)):
      return sent.properties.allSatisfy { property in
        received.properties.first { $0.name == property.name }.map { isForm($0.value, of: property.value) } ?? true
      }
    case (.collection(let sent), .collection(let received)):
      return sent.count == received.count && zip(sent, received).allSatisfy { isForm($1, of: $0) }
    case (.date, _), (_, .date): return false
    // The number of decimal digits that are certain to survive in a binary number of each kind: 15 and 6.
    case (.double(let number), _): return isNear(received, number, 5e-15)
    case (.single(let number), _): return isNear(received, Double(number), 5e-6)
    default: break
    }
    if let sent = seconds(sent), let received = seconds(received) { return abs(sent - received) <= 1 }
    return false
  }

  private static func isNear(_ received: ODataValue, _ sent: Double, _ share: Double) -> Bool {
    guard sent.isFinite, let text = received.exactNumber?.description, let number = Double(text) else { return false }
    return abs(number - sent) <= abs(sent) * share
  }

  private static func resembles(_ sent: String, _ received: String) -> Bool {
    let (left, right) = (folded(sent), folded(received))
    if left == right { return true }
    let (short, long) = left.count < right.count ? (left, right) : (right, left)
    return short.count >= 4 && long.hasPrefix(short)
  }

  /// The text without what services change: case, surrounding spaces, leading zeros.
  static func folded(_ text: String) -> String {
    let trimmed = text.uppercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return String(trimmed.drop { $0 == "0" })
  }

  /// A timestamp or date in seconds since 1970; nil for values of other kinds.
  private static func seconds(_ value: ODataValue) -> Double? {
    switch value {
    case .dateTimeOffset(let timestamp): Double(timestamp.secondsSince1970)
    case .dateTime(let timestamp): timestamp.millisecondsSince1970.map { Double($0) / 1000 }
    case .date(let date): ODataDateTime(date: date).millisecondsSince1970.map { Double($0) / 1000 }
    default: nil
    }
  }
}

/// Filters that find at the service an entity that was sent.
enum LookupFilter {
  /// The maximum number of conditions in a filter.
  private static let mostTerms = 12

  /// A filter for an entity that has the values that were sent; nil if none of them can be used in a filter.
  static func text(_ sent: QueuedEntity, version: ODataVersion) -> String? {
    var terms: [String] = []
    for (path, value) in leaves(sent) {
      switch value {
      case .double, .single, .binary, .geo, .enumeration, .untypedNumber: continue
      // Services store fewer digits of a timestamp than they receive, and treat long texts in their own ways.
      case .dateTimeOffset, .dateTime, .timeOfDay, .duration: continue
      case .string(let text) where text.utf8.count > 200: continue
      default: break
      }
      guard let literal = try? value.literal(dialect: version.dialect) else { continue }
      terms.append("\(path) eq \(literal)")
    }
    return terms.isEmpty ? nil : terms.prefix(mostTerms).joined(separator: " and ")
  }

  /// Filters for an entity that has some of the values that were sent, or forms of these. If the service rejects the
  /// first filter, or returns too many entities, the next is used: with fewer values, and finally no filter (nil).
  static func loose(_ sent: QueuedEntity, rare: Set<String>, version: ODataVersion) -> [String?] {
    let all = leaves(sent)
    let few = all.filter { rare.contains($0.path) }
    var filters: [String?] = [any(all, version)]
    if !few.isEmpty, few.count < all.count { filters.append(any(few, version)) }
    return filters.filter { $0 != nil } + [nil]
  }

  private static func any(_ leaves: [(path: String, value: ODataValue)], _ version: ODataVersion) -> String? {
    var terms: [String] = []
    for (path, value) in leaves {
      switch value {
      case .byte, .sbyte, .int16, .int32, .int64, .guid, .decimal, .date:
        guard let literal = try? value.literal(dialect: version.dialect) else { continue }
        terms.append("\(path) eq \(literal)")
      case .string(let text):
        let folded = SentContent.folded(text)
        guard (1...100).contains(folded.utf8.count) else { continue }
        for (function, part) in [("endswith", folded), ("startswith", String(folded.prefix(4)))] {
          guard function == "endswith" || part.count == 4,
            let literal = try? ODataValue.string(part).literal(dialect: version.dialect)
          else { continue }
          terms.append("\(function)(toupper(trim(\(path))),\(literal))")
        }
      default: continue
      }
    }
    return terms.isEmpty ? nil : terms.prefix(mostTerms).joined(separator: " or ")
  }

  /// The primitive values that were sent, with paths for those inside complex values.
  private static func leaves(_ sent: QueuedEntity) -> [(path: String, value: ODataValue)] {
    sent.properties.filter { $0.key == nil }.flatMap { leaves($0.name, $0.value.value) }
  }

  private static func leaves(_ path: String, _ value: ODataValue) -> [(path: String, value: ODataValue)] {
    switch value {
    case .null, .collection: []
    case .complex(let complex): complex.properties.flatMap { leaves("\(path)/\($0.name)", $0.value) }
    default: [(path, value)]
    }
  }
}
